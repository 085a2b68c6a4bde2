//! Connections over TCP.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};

use super::connection::{Accept, Connection, Device};
use super::stream::greeting::{Unwelcome, greet};
use super::stream::listening::{BACKLOG, Family, Listening};
use super::stream::socket::SocketWire;
use crate::address::Address;
use crate::error::{ConnectError, HandshakeError, ListenError};
use crate::options::Options;

/// How often a host that is silent is asked whether it is there, in the time after which it is given
/// up.
const ASKED: u32 = 6;

/// The device of `tcp://host:port`.
pub(super) struct Tcp;

impl Device for Tcp {
    fn scheme(&self) -> &'static str {
        TcpFamily::SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        listen(address, options, TcpFamily, address_of)
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        connect::<TcpFamily>(address, options, address_of)
    }
}

/// Listens for a family of sockets over TCP, which calls an IP address so.
pub(super) fn listen<F: Family>(
    address: &Address,
    options: &Options,
    family: F,
    address_of: fn(SocketAddr) -> Address,
) -> Result<Box<dyn Accept>, ListenError> {
    let (socket, local) = listen_at(address)?;
    let listening = Listening::new(socket, address_of(local), options, family);
    let listening = listening.map_err(|source| ListenError::System {
        address: address.clone(),
        source,
    })?;
    Ok(Box::new(listening))
}

/// Connects a socket of such a family, greetings included.
pub(super) fn connect<F: Family>(
    address: &Address,
    options: &Options,
    address_of: fn(SocketAddr) -> Address,
) -> Result<Connection, ConnectError> {
    let (socket, at) = connect_to(address, options)?;
    let unwelcome = |unwelcome: Unwelcome| unwelcome.at(address);
    F::prepare(&socket, options)
        .map_err(|source| unwelcome(HandshakeError::System { source }.into()))?;
    let wire = SocketWire::new(socket);
    let theirs = greet(&wire, options).map_err(unwelcome)?;
    Ok(F::connection(wire, address_of(at), theirs, options))
}

/// Sockets of TCP.
struct TcpFamily;

impl Family for TcpFamily {
    const SCHEME: &'static str = "tcp";

    fn peer(&self, _socket: &Socket, from: &SockAddr) -> io::Result<Address> {
        Ok(address_of(ip(from)?))
    }

    fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
        prepare(socket, options)
    }
}

/// A socket that listens at `address`, and where that is.
fn listen_at(address: &Address) -> Result<(Socket, SocketAddr), ListenError> {
    let resolved = resolve(address).map_err(|source| ListenError::Resolve {
        address: address.clone(),
        source,
    })?;
    first_of(&resolved, |at| {
        let socket = new_socket(at)?;
        // Else the connections of an earlier run would block the port for minutes.
        socket.set_reuse_address(true)?;
        socket.bind(&at.into())?;
        socket.listen(BACKLOG)?;
        let local = ip(&socket.local_addr()?)?;
        Ok((socket, local))
    })
    .map_err(|source| {
        let address = address.clone();
        match source.kind() {
            io::ErrorKind::AddrInUse => ListenError::InUse { address },
            _ => ListenError::System { address, source },
        }
    })
}

/// A socket that is connected to `address`, and which of its addresses that is.
pub(super) fn connect_to(
    address: &Address,
    options: &Options,
) -> Result<(Socket, SocketAddr), ConnectError> {
    let resolved = resolve(address).map_err(|source| ConnectError::Resolve {
        address: address.clone(),
        source,
    })?;
    first_of(&resolved, |at| {
        let socket = new_socket(at)?;
        socket.connect_timeout(&SockAddr::from(at), options.connect_timeout)?;
        Ok((socket, at))
    })
    .map_err(|source| ConnectError::Unreachable {
        address: address.clone(),
        tried: resolved.len(),
        source,
    })
}

/// Sets what every connection needs.
pub(super) fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
    // Messages are written whole, so there is nothing to wait for.
    socket.set_tcp_nodelay(true)?;
    let silence = options.keepalive.max(Duration::from_secs(1));
    let between = silence.checked_div(ASKED).unwrap_or_default();
    let keepalive = TcpKeepalive::new()
        .with_time(silence)
        .with_interval(between.max(Duration::from_secs(1)))
        .with_retries(ASKED);
    socket.set_tcp_keepalive(&keepalive)?;
    // A host that vanishes while bytes are on their way is asked nothing: the system would send them
    // again for a quarter of an hour. This ends a connection, too, whose peer lets the bytes that
    // are on their way wait for so long.
    socket.set_tcp_user_timeout(Some(silence.saturating_mul(2)))
}

/// The address of a socket address.
pub(super) fn address_of(at: SocketAddr) -> Address {
    Address::Tcp {
        host: at.ip().to_string(),
        port: at.port(),
    }
}

/// Everything that the host may be; at least one.
fn resolve(address: &Address) -> io::Result<Vec<SocketAddr>> {
    let (Address::Tcp { host, port } | Address::Uring { host, port } | Address::Tls { host, port }) =
        address
    else {
        panic!("the TCP device was given {address}")
    };
    let resolved: Vec<_> = (host.as_str(), *port).to_socket_addrs()?.collect();
    if resolved.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the host has no address",
        ));
    }
    Ok(resolved)
}

/// The first that can be made, or why the last one can't.
fn first_of<T>(
    resolved: &[SocketAddr],
    make: impl Fn(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for at in resolved {
        match make(*at) {
            Ok(made) => return Ok(made),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn new_socket(at: SocketAddr) -> io::Result<Socket> {
    Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))
}

fn ip(address: &SockAddr) -> io::Result<SocketAddr> {
    address
        .as_socket()
        .ok_or_else(|| io::Error::other("the socket has no IP address"))
}
