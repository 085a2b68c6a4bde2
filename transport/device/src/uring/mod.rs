//! Connections over TCP that receive through io_uring.
//!
//! The protocol is that of [`tcp`](super::tcp). Each thread has a `ring` with its own `buffers`,
//! through which it receives from all the sockets that it drives. One system call receives data of
//! many sockets.
//!
//! Modules: a `receiver` is the state of one socket at a ring, and a `seat` is the registration of
//! a socket at a ring. `state` is the part of a ring under its lock. `waking` and `places` wake
//! threads that wait for several sockets. `ending` ends a ring. `system` has the system calls.
//! `wire` is the implementation of the stream's wire on top of these. `lending` sends large buffers
//! to other hosts without a copy.
//!
//! The kernel gets no memory of the program except buffers that are to be sent. It receives into
//! buffers of the ring. Small messages are copied from there once. Large payloads bypass the ring:
//! they are received by system calls that return when the kernel does not access their memory any
//! more. So the kernel never writes to memory that the program has leaked, given up or dropped.
//!
//! Decision 041 has the reasons.

mod buffers;
mod ending;
mod lending;
mod places;
mod receiver;
mod ring;
mod seat;
mod state;
mod system;
#[cfg(test)]
mod tests;
mod waking;
mod wire;

use std::io;

use socket2::{SockAddr, Socket};

use self::ring::Issuer;
use self::wire::UringWire;
use super::connection::{Accept, Connection, Device};
use super::stream::connection;
use super::stream::hello::Hello;
use super::stream::listening::Family;
use super::stream::socket::SocketWire;
use super::tcp::{self, prepare};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, ListenError};

/// The device of `uring://host:port`.
pub(super) struct Uring;

impl Device for Uring {
    fn scheme(&self) -> &'static str {
        UringFamily::SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        tcp::listen(address, options, UringFamily, Address::uring_peer)
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        tcp::connect::<UringFamily>(address, options, Address::uring_peer)
    }
}

/// The family of TCP sockets with rings.
struct UringFamily;

impl Family for UringFamily {
    const SCHEME: &'static str = "uring";

    fn peer(&self, _socket: &Socket, from: &SockAddr) -> io::Result<Address> {
        let from = from.as_socket();
        from.map(Address::uring_peer)
            .ok_or_else(|| io::Error::other("the socket has no IP address"))
    }

    fn prepare(socket: &Socket, options: &Options) -> io::Result<()> {
        prepare(socket, options)
    }

    fn connection(wire: SocketWire, peer: Address, theirs: Hello, options: &Options) -> Connection {
        let issuer = if options.uring_single_issuer {
            Issuer::First
        } else {
            Issuer::Any
        };
        let made = UringWire::new(wire, issuer, options);
        with_or_without(made, (peer, Self::SCHEME), theirs, options)
    }
}

/// Creates a connection with a ring, or one like TCP if there can't be a ring.
fn with_or_without(
    made: Result<(UringWire, Vec<String>), (SocketWire, io::Error)>,
    to: (Address, &'static str),
    theirs: Hello,
    options: &Options,
) -> Connection {
    match made {
        Ok((wire, lacks)) => {
            let mut connection = connection(wire, to, theirs, options);
            connection.degraded.extend(lacks);
            connection
        }
        Err((wire, error)) => {
            let mut connection = connection(wire, to, theirs, options);
            connection.degraded.push(format!(
                "no io_uring for this connection, which falls back to plain TCP: {error}"
            ));
            connection
        }
    }
}
