//! A port that no other program of this host gets.
//!
//! Decision 099 has the reasons.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::{set_ipv6_v6only, set_socket_reuseaddr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// A TCP port of this host that is held until this is dropped.
///
/// The socket is bound, but does not listen. So the system gives the port to no socket that asks
/// for any port, and a listener of the job, which sets `SO_REUSEADDR`, can still bind it.
pub(crate) struct PortReservation {
    port: u16,
    _socket: OwnedFd,
}

impl PortReservation {
    /// Reserves any port.
    pub(crate) fn new() -> io::Result<Self> {
        // A host without IPv6 has no such addresses.
        Self::at(SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)))
            .or_else(|_| Self::at(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))))
    }

    pub(crate) fn number(&self) -> u16 {
        self.port
    }

    fn at(address: SocketAddr) -> io::Result<Self> {
        let family = match address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        set_socket_reuseaddr(&socket, true)?;
        if address.is_ipv6() {
            // The port is reserved for IPv4, too.
            set_ipv6_v6only(&socket, false)?;
        }
        bind(&socket, &address)?;
        let local = SocketAddr::try_from(getsockname(&socket)?)?;
        Ok(Self {
            port: local.port(),
            _socket: socket,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::net::TcpListener;

    #[test]
    fn a_listener_can_bind_the_port() {
        let port = PortReservation::new().unwrap();
        for host in ["127.0.0.1", "0.0.0.0"] {
            let listener = TcpListener::bind((host, port.number())).unwrap();
            assert_eq!(listener.local_addr().unwrap().port(), port.number());
        }
        let v4 = PortReservation::at(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))).unwrap();
        TcpListener::bind(("127.0.0.1", v4.number())).unwrap();
    }

    #[test]
    fn ports_are_distinct() {
        let all: Vec<_> = (0..100).map(|_| PortReservation::new().unwrap()).collect();
        let numbers: HashSet<_> = all.iter().map(PortReservation::number).collect();
        assert_eq!(numbers.len(), all.len());
    }
}
