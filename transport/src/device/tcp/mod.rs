//! Links over TCP.

mod assembly;
mod halves;
mod handshake;
mod hello;
mod socket;

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use self::handshake::handshake;
use super::link::{Close, Closer, Link};
use super::listener::{Accept, Establish, Incoming, Listener};
use super::{Device, sealed};
use crate::address::Address;
use crate::error::{AcceptError, ConnectError, HandshakeError, ListenError};
use crate::options::Options;

/// How many connections the system keeps for us until they are accepted.
const BACKLOG: i32 = 1024;

/// The device of `tcp://host:port`.
pub(super) struct Tcp;

impl sealed::Sealed for Tcp {}

impl Device for Tcp {
    fn scheme(&self) -> &'static str {
        "tcp"
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Listener, ListenError> {
        let resolved = resolve(address).map_err(|source| ListenError::Resolve {
            address: address.clone(),
            source,
        })?;
        let (socket, _) = first_of(&resolved, listen_at).map_err(|source| {
            let address = address.clone();
            match source.kind() {
                io::ErrorKind::AddrInUse => ListenError::InUse { address },
                _ => ListenError::System { address, source },
            }
        })?;
        let local = local_address(&socket).map_err(|source| ListenError::System {
            address: address.clone(),
            source,
        })?;
        let listening = Listening {
            bound: Arc::new(Bound {
                socket,
                closed: AtomicBool::new(false),
            }),
            address: local.clone(),
            options: options.clone(),
        };
        Ok(Listener::new(local, listening))
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Link, ConnectError> {
        let resolved = resolve(address).map_err(|source| ConnectError::Resolve {
            address: address.clone(),
            source,
        })?;
        let (socket, at) = first_of(&resolved, |at| {
            let socket = new_socket(at)?;
            socket.connect_timeout(&SockAddr::from(at), options.connect_timeout)?;
            Ok(socket)
        })
        .map_err(|source| ConnectError::Unreachable {
            address: address.clone(),
            tried: resolved.len(),
            source,
        })?;
        handshake(socket, address_of(at), options).map_err(|source| ConnectError::Handshake {
            address: address.clone(),
            source,
        })
    }
}

/// Everything that the host may be; at least one.
fn resolve(address: &Address) -> io::Result<Vec<SocketAddr>> {
    let Address::Tcp { host, port } = address else {
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

/// The first socket that can be made, or why the last one can't.
fn first_of(
    resolved: &[SocketAddr],
    make: impl Fn(SocketAddr) -> io::Result<Socket>,
) -> io::Result<(Socket, SocketAddr)> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for at in resolved {
        match make(*at) {
            Ok(socket) => return Ok((socket, *at)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn new_socket(at: SocketAddr) -> io::Result<Socket> {
    Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))
}

fn listen_at(at: SocketAddr) -> io::Result<Socket> {
    let socket = new_socket(at)?;
    // Else the connections of an earlier run would block the port for minutes. On Windows the
    // same option would let two listeners share it.
    #[cfg(not(windows))]
    socket.set_reuse_address(true)?;
    socket.bind(&at.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

fn local_address(socket: &Socket) -> io::Result<Address> {
    socket_address(&socket.local_addr()?)
}

fn socket_address(address: &SockAddr) -> io::Result<Address> {
    address
        .as_socket()
        .map(address_of)
        .ok_or_else(|| io::Error::other("the socket has no IP address"))
}

fn address_of(at: SocketAddr) -> Address {
    Address::Tcp {
        host: at.ip().to_string(),
        port: at.port(),
    }
}

struct Listening {
    bound: Arc<Bound>,
    address: Address,
    options: Options,
}

/// The listening socket.
struct Bound {
    socket: Socket,
    closed: AtomicBool,
}

impl Listening {
    fn refused(&self, source: io::Error) -> AcceptError {
        let address = self.address.clone();
        if self.bound.closed.load(Ordering::Acquire) {
            AcceptError::ClosedLocally { address }
        } else {
            AcceptError::System { address, source }
        }
    }
}

impl Accept for Listening {
    fn accept(&self) -> Result<Incoming, AcceptError> {
        loop {
            let (socket, from) = match self.bound.socket.accept() {
                Ok(accepted) => accepted,
                // A peer that was gone before we looked is none.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted
                    ) && !self.bound.closed.load(Ordering::Acquire) =>
                {
                    continue;
                }
                Err(error) => return Err(self.refused(error)),
            };
            if self.bound.closed.load(Ordering::Acquire) {
                return Err(self.refused(io::ErrorKind::ConnectionAborted.into()));
            }
            let peer = socket_address(&from).map_err(|error| self.refused(error))?;
            let accepted = Accepted {
                socket,
                peer: peer.clone(),
                options: self.options.clone(),
            };
            return Ok(Incoming::new(peer, accepted));
        }
    }

    fn closer(&self) -> Closer {
        Closer::of(&self.bound)
    }
}

impl Close for Bound {
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // This wakes whoever accepts on Linux, and does nothing on other systems.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        self.wake();
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Bound {
    /// Wakes whoever accepts, by connecting to ourselves.
    fn wake(&self) {
        use std::net::{Ipv4Addr, Ipv6Addr};

        let Ok(Some(mut at)) = self.socket.local_addr().map(|at| at.as_socket()) else {
            return;
        };
        if at.ip().is_unspecified() {
            at.set_ip(match at {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        // If nobody can connect, nobody is accepting either.
        let _ = std::net::TcpStream::connect_timeout(&at, std::time::Duration::from_secs(1));
    }
}

struct Accepted {
    socket: Socket,
    peer: Address,
    options: Options,
}

impl Establish for Accepted {
    fn establish(self: Box<Self>) -> Result<Link, HandshakeError> {
        handshake(self.socket, self.peer, &self.options)
    }
}
