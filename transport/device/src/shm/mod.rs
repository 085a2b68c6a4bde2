//! Connections between the processes of one host, through shared memory.
//!
//! The two processes connect over a Unix socket: in the abstract namespace, where each user has
//! separate names (`shm://name`), or at a path (`shm:///path`), which other users and containers
//! can reach too, if the mode of its file permits it. Over the socket, the server sends the client
//! a sealed memory file with a ring for each direction ([`ring`]). A small message is stored in a
//! slot of the ring, a larger one in the data area behind the slots. A large message stays in the
//! sender's memory, and the receiver copies it from there ([`remote`]) if the system permits it.
//!
//! Every received message is copied to a buffer of the receiver before it is interpreted. The peer
//! can change shared memory at any time, so each word of it is read once and checked. Sides that
//! trust each other leave messages in place ([`trusted`]).
//!
//! The sockets stay open: they carry wake-ups, and they are hung up when the peer's process ends
//! ([`line`]). Once both processes have ended, in whatever way, no part of the connection remains
//! in the system.
//!
//! A connection belongs to the process that made it. A child of a `fork` cannot use it.

mod broken;
mod copy;
mod handshake;
mod incoming;
mod line;
mod listener;
mod mapping;
mod outgoing;
mod place;
mod ranges;
mod remote;
mod ring;
mod signal;
mod trusted;

pub use self::trusted::Outbox;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use socket2::{Domain, Socket, Type};

use self::listener::{is_path, socket_name};
use super::connection::{Accept, Connection, Device};
use super::deadline::Deadline;
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{ConnectError, ListenError};

/// Delay before another connection attempt if the listener's backlog is full.
const PAUSE: Duration = Duration::from_millis(1);

/// Device of the addresses `shm://name` and `shm:///path`.
pub(crate) struct Shm;

impl Device for Shm {
    fn scheme(&self) -> &'static str {
        "shm"
    }

    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError> {
        let listener = listener::ShmListener::new(address, options).map_err(|source| {
            let address = address.clone();
            if source.kind() == io::ErrorKind::AddrInUse {
                ListenError::InUse { address }
            } else {
                ListenError::System { address, source }
            }
        })?;
        Ok(Box::new(listener))
    }

    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError> {
        let name = socket_name(address);
        let unreachable = |source| ConnectError::Unreachable {
            address: address.clone(),
            tried: 1,
            source: name.unreached(source, Some(rustix::process::geteuid().as_raw())),
        };
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(unreachable)?;
        socket.set_nonblocking(true).map_err(unreachable)?;
        let at = name.socket_address().map_err(unreachable)?;
        let deadline = Deadline::after(options.connect_timeout);
        while let Err(error) = socket.connect(&at) {
            match Errno::from_io_error(&error) {
                Some(Errno::AGAIN) if deadline.has_passed() => {
                    return Err(ConnectError::TimedOut {
                        address: address.clone(),
                        after: options.connect_timeout,
                    });
                }
                Some(Errno::AGAIN) => std::thread::sleep(PAUSE),
                Some(Errno::INTR) => {}
                _ => return Err(unreachable(error)),
            }
        }
        let users = handshake::Users::allowed(is_path(address));
        handshake::connect(socket, address.clone(), users, options)
            .map_err(|unwelcome| unwelcome.at(address))
    }
}
