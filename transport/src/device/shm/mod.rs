//! Between the processes of one host, through shared memory.
//!
//! A Unix socket without a place in the file system brings the two together; over it, the server
//! gives the client a sealed memory file with a ring for each direction ([`ring`]). Small messages
//! stand in the ring, larger ones in the data behind it, large ones stay where they are, and the
//! receiver copies them out of the sender's memory ([`remote`]) where the system allows it.
//!
//! All that is received is copied to a jbuf of the receiver's before anybody looks at it. What is in
//! shared memory can change at any time; each word of it is read once and checked. Sides that trust each
//! other leave messages where they are ([`trusted`]).
//!
//! The sockets stay open: they wake who sleeps, and are hung up when the peer ends ([`line`]). When
//! both processes are gone, nothing is left of the connection, however they ended.
//!
//! A connection belongs to the process that made it; a child of a `fork` can't use it.

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

pub(super) use self::remote::Credentials;
pub(crate) use self::trusted::Outbox;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use socket2::{Domain, SockAddr, Socket, Type};

use super::connection::{Accept, Connection, Device};
use super::deadline::Deadline;
use crate::address::Address;
use crate::error::{ConnectError, ListenError};
use crate::options::Options;

/// How long to wait for a listener whose queue is full, before trying again.
const PAUSE: Duration = Duration::from_millis(1);

/// The device.
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
        let unreachable = |source| ConnectError::Unreachable {
            address: address.clone(),
            tried: 1,
            source,
        };
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(unreachable)?;
        socket.set_nonblocking(true).map_err(unreachable)?;
        let name = socket_name(address).map_err(unreachable)?;
        let deadline = Deadline::after(options.connect_timeout);
        while let Err(error) = socket.connect(&name) {
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
        handshake::connect(socket, address.clone(), options)
            .map_err(|unwelcome| unwelcome.at(address))
    }
}

/// The name of an address's socket: each user has its own names.
///
/// # Panics
///
/// When the address has another scheme.
fn socket_name(address: &Address) -> io::Result<SockAddr> {
    let Address::Shm { name } = address else {
        panic!("{address} is no address of shared memory");
    };
    let uid = rustix::process::geteuid().as_raw();
    SockAddr::unix(format!("\0jstream-shm-{uid}-{name}"))
}
