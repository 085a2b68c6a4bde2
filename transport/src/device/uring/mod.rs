//! Connections over TCP that receive by io_uring.
//!
//! What stands on the wire is what [`tcp`](super::tcp) sends. Each thread has a `ring` with its
//! `buffers`, by which it receives from all the sockets that it drives: what has come from many costs
//! one call. A `receiver` is one of them there, a `seat` its number; `state` is what stands under the
//! ring's lock, `waking` and `places` are for threads that wait for several, `ending` is the end of a ring,
//! `system` what the system is asked; `wire` puts all this before a socket, below what all streams share.
//!
//! Large jbufs to other hosts are sent from where they are, by `lending`.
//!
//! The system is given no memory of the program but jbufs that were given to be sent: it receives into buffers of the ring, from which
//! small messages are copied once, and large payloads are received past the ring, in calls that
//! return when the system is done with their memory. So nothing that the program forgets, gives up
//! or drops is written to behind its back.

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
use std::net::SocketAddr;

use socket2::{SockAddr, Socket};

use self::ring::Issuer;
use self::wire::UringWire;
use super::connection::{Accept, Connection, Device};
use super::stream::connection;
use super::stream::hello::Hello;
use super::stream::listening::Family;
use super::stream::socket::SocketWire;
use super::tcp::{self, prepare};
use crate::address::Address;
use crate::error::{ConnectError, ListenError};
use crate::options::Options;

/// The device of `uring://host:port`.
pub(super) struct Uring;

impl Device for Uring {
    fn scheme(&self) -> &'static str {
        UringFamily::SCHEME
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        tcp::listen(address, options, UringFamily, address_of)
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        tcp::connect::<UringFamily>(address, options, address_of)
    }
}

/// Sockets of TCP, with rings.
struct UringFamily;

impl Family for UringFamily {
    const SCHEME: &'static str = "uring";

    fn peer(&self, _socket: &Socket, from: &SockAddr) -> io::Result<Address> {
        let from = from.as_socket();
        from.map(address_of)
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

/// A connection with a ring where there is one, else what tcp makes.
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
                "there is no io_uring for this connection, which works as tcp does: {error}"
            ));
            connection
        }
    }
}

fn address_of(at: SocketAddr) -> Address {
    Address::Uring {
        host: at.ip().to_string(),
        port: at.port(),
    }
}
