//! Connections over TCP.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, TcpKeepalive, Type};

use super::connection::{Accept, Connection, Device};
use super::stream::greeting::{Unwelcome, greet};
use super::stream::listening::{BACKLOG, Family, SocketListener};
use super::stream::socket::SocketWire;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, HandshakeError, ListenError};

/// Number of keepalive probes that are sent to a silent host before the connection is closed.
const ASKED: u32 = 6;

/// The device of `tcp://host:port`.
pub(super) struct Tcp;

impl Device for Tcp {
    fn scheme(&self) -> &'static str {
        TcpFamily::SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        listen(address, options, TcpFamily, Address::tcp_peer)
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        connect::<TcpFamily>(address, options, Address::tcp_peer)
    }
}

/// Listens on a TCP socket for a family, which creates its own address from an IP address.
pub(super) fn listen<F: Family>(
    address: &Address,
    options: &Options,
    family: F,
    address_of: fn(SocketAddr) -> Address,
) -> Result<Box<dyn Accept>, ListenError> {
    let (socket, local) = listen_at(address, options.reuse_port)?;
    let listening = SocketListener::new(socket, address_of(local), options, family);
    let listening = listening.map_err(|source| ListenError::System {
        address: address.clone(),
        source,
    })?;
    Ok(Box::new(listening))
}

/// Listens on a socket that other processes have, too.
pub(super) fn listen_shared(
    socket: Socket,
    options: &Options,
) -> Result<Box<dyn Accept>, ListenError> {
    listen_shared_of(socket, options, TcpFamily, Address::tcp_peer)
}

/// Listens on a TCP socket that other processes have, too, for a family.
pub(super) fn listen_shared_of<F: Family>(
    socket: Socket,
    options: &Options,
    family: F,
    address_of: fn(SocketAddr) -> Address,
) -> Result<Box<dyn Accept>, ListenError> {
    let unknown = || address_of(SocketAddr::from(([0; 4], 0)));
    let local = socket.local_addr().and_then(|local| ip(&local));
    let local = local.map(address_of);
    let address = local.as_ref().map_or_else(|_| unknown(), Address::clone);
    let listening =
        local.and_then(|local| SocketListener::of_shared(socket, local, options, family));
    match listening {
        Ok(listening) => Ok(Box::new(listening)),
        Err(source) => Err(ListenError::System { address, source }),
    }
}

/// Connects a TCP socket of a family and exchanges greetings.
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

/// The family of TCP sockets.
struct TcpFamily;

impl Family for TcpFamily {
    const SCHEME: &'static str = "tcp";

    fn peer(&self, _socket: &Socket, from: &SockAddr) -> io::Result<Address> {
        Ok(Address::tcp_peer(ip(from)?))
    }

    fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
        prepare(socket, options)
    }
}

/// Creates a socket that listens at `address`, and returns it with its local address. If
/// `reuse_port` is true, other sockets may listen at the same port.
fn listen_at(address: &Address, reuse_port: bool) -> Result<(Socket, SocketAddr), ListenError> {
    let resolved = resolve(address).map_err(|source| ListenError::Resolve {
        address: address.clone(),
        source,
    })?;
    first_of(&resolved, |at| {
        let socket = new_socket(at)?;
        // Without this, connections of an earlier run block the port for minutes.
        socket.set_reuse_address(true)?;
        if reuse_port {
            socket.set_reuse_port(true)?;
        }
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

/// Connects a socket to `address`, and returns it with the address that was reached.
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

/// Sets the socket options of every connection.
pub(super) fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
    // A message is written as a whole, so there is no reason to delay it.
    socket.set_tcp_nodelay(true)?;
    let silence = options.keepalive.max(Duration::from_secs(1));
    let between = silence.checked_div(ASKED).unwrap_or_default();
    let keepalive = TcpKeepalive::new()
        .with_time(silence)
        .with_interval(between.max(Duration::from_secs(1)))
        .with_retries(ASKED);
    socket.set_tcp_keepalive(&keepalive)?;
    // The kernel sends no keepalive probes while sent bytes are unacknowledged: it would retransmit
    // for a quarter of an hour. This timeout also closes a connection whose peer does not drain its
    // receive side for that long.
    socket.set_tcp_user_timeout(Some(silence.saturating_mul(2)))
}

/// Resolves the host to its socket addresses, at least one.
fn resolve(address: &Address) -> io::Result<Vec<SocketAddr>> {
    let (Address::Tcp { host, port, .. }
    | Address::Uring { host, port, .. }
    | Address::Tls { host, port, .. }) = address
    else {
        panic!("{address} is not an address of the TCP device")
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

/// Returns the first success of `make`, or the error of the last attempt.
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
