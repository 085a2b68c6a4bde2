//! Listening sockets.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use socket2::{SockAddr, Socket};

use super::greeting::Welcoming;
use super::hello::Hello;
use super::socket::SocketWire;
use super::{Wire, connection};
use crate::connection::{Accept, Accepted, Connection, Establish, Farewell, Interest};
use jstream_base::Address;
use jstream_base::Options;
use jstream_base::{AcceptError, HandshakeError};

/// Maximum number of connections that the kernel queues until they are accepted.
pub(crate) const BACKLOG: i32 = 1024;

/// The differences between kinds of sockets.
pub(crate) trait Family: Send + Sync + 'static {
    const SCHEME: &'static str;

    /// Returns the address of the peer of an accepted socket.
    fn peer(&self, socket: &Socket, from: &SockAddr) -> io::Result<Address>;

    /// Sets the socket options of every connection.
    fn prepare(socket: &Socket, options: &Options) -> io::Result<()>;

    /// Creates a connection after the greetings were exchanged.
    fn connection(wire: SocketWire, peer: Address, theirs: Hello, options: &Options) -> Connection {
        connection(wire, (peer, Self::SCHEME), theirs, options)
    }

    /// Creates the handshake state of an accepted socket.
    fn half_made(socket: Socket, peer: Address, options: &Options) -> Box<dyn Establish>
    where
        Self: Sized,
    {
        Box::new(PendingStream::<Self> {
            wire: Some(SocketWire::new(socket)),
            welcoming: Welcoming::default(),
            peer,
            options: options.clone(),
            family: std::marker::PhantomData,
        })
    }

    /// Frees the address. Called once.
    fn free(&self) {}
}

/// A listening socket.
pub(crate) struct SocketListener<F: Family> {
    socket: Socket,
    address: Address,
    options: Options,
    family: F,
    closed: AtomicBool,
    /// Present if other processes have the socket, too.
    shared: Option<SharedSocket>,
}

/// Readiness of a listening socket that other processes have, too. Closing the listener must not
/// shut the socket down, so it wakes those who wait by a pair of sockets.
struct SharedSocket {
    /// Readable if the listening socket or the pair is.
    epoll: OwnedFd,
    /// Dropping it makes the other one readable.
    open: Mutex<Option<UnixStream>>,
    _closed: UnixStream,
}

impl SharedSocket {
    fn new(socket: &Socket) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let (closed, open) = UnixStream::pair()?;
        let (data, flags) = (EventData::new_u64(0), EventFlags::IN);
        epoll::add(&epoll, socket, data, flags)?;
        epoll::add(&epoll, &closed, data, flags)?;
        Ok(Self {
            epoll,
            open: Mutex::new(Some(open)),
            _closed: closed,
        })
    }
}

impl<F: Family> SocketListener<F> {
    /// Creates a listener from `socket`, which listens at `address`.
    pub(crate) fn new(
        socket: Socket,
        address: Address,
        options: &Options,
        family: F,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            address,
            options: options.clone(),
            family,
            closed: AtomicBool::new(false),
            shared: None,
        })
    }

    /// Creates a listener from a socket that other processes have, too. They may go on to accept
    /// connections after this listener was closed.
    pub(crate) fn of_shared(
        socket: Socket,
        address: Address,
        options: &Options,
        family: F,
    ) -> io::Result<Self> {
        let shared = SharedSocket::new(&socket)?;
        let mut listener = Self::new(socket, address, options, family)?;
        listener.shared = Some(shared);
        Ok(listener)
    }

    fn failed(&self, source: io::Error) -> AcceptError {
        let address = self.address.clone();
        if self.closed.load(Ordering::Acquire) {
            AcceptError::ClosedLocally { address }
        } else {
            AcceptError::System { address, source }
        }
    }
}

impl<F: Family> Accept for SocketListener<F> {
    fn local(&self) -> &Address {
        &self.address
    }

    fn try_accept(&self) -> Result<Option<Accepted>, AcceptError> {
        loop {
            if self.closed.load(Ordering::Acquire) {
                return Err(self.failed(io::ErrorKind::ConnectionAborted.into()));
            }
            let (socket, from) = match self.socket.accept() {
                Ok(accepted) => accepted,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(None),
                    // If the peer has already disconnected, the next connection is accepted.
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => continue,
                    _ => return Err(self.failed(error)),
                },
            };
            let peer = self.family.peer(&socket, &from);
            let peer = peer.map_err(|error| self.failed(error))?;
            let half_made = F::half_made(socket, peer.clone(), &self.options);
            return Ok(Some(Accepted { peer, half_made }));
        }
    }

    fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    fn source(&self) -> BorrowedFd<'_> {
        match &self.shared {
            Some(shared) => shared.epoll.as_fd(),
            None => self.socket.as_fd(),
        }
    }

    fn close(&self) {
        if !self.closed.swap(true, Ordering::AcqRel) {
            if let Some(shared) = &self.shared {
                drop(jstream_sync::lock(&shared.open).take());
                return;
            }
            self.family.free();
            // New connections are refused from now on, and the socket stays readable.
            let _ = self.socket.shutdown(Shutdown::Both);
        }
    }
}

impl<F: Family> Drop for SocketListener<F> {
    fn drop(&mut self) {
        self.close();
    }
}

/// An accepted socket before the greetings were exchanged.
struct PendingStream<F> {
    /// `None` after the connection was returned.
    wire: Option<SocketWire>,
    welcoming: Welcoming,
    peer: Address,
    options: Options,
    family: std::marker::PhantomData<F>,
}

impl<F: Family> Establish for PendingStream<F> {
    fn read_greeting(&mut self) -> Result<bool, HandshakeError> {
        match &self.wire {
            Some(wire) => self.welcoming.read_hello(wire, &self.options),
            None => Err(HandshakeError::Closed { received: 0 }),
        }
    }

    fn accept(&mut self) -> Result<Option<Connection>, HandshakeError> {
        let closed = HandshakeError::Closed { received: 0 };
        let wire = self.wire.as_ref().ok_or(closed)?;
        let Some(theirs) = self.welcoming.accept(wire, &self.options)? else {
            return Ok(None);
        };
        F::prepare(wire.socket(), &self.options)
            .map_err(|source| HandshakeError::System { source })?;
        let peer = self.peer.clone();
        let wire = self.wire.take();
        Ok(wire.map(|wire| F::connection(wire, peer, theirs, &self.options)))
    }

    fn decline(&mut self, reason: &str) {
        self.welcoming.decline(&self.options, reason);
    }

    fn farewell(&mut self) -> Farewell {
        let wire = self.wire.as_ref();
        wire.map_or(Farewell::Gone, |wire| self.welcoming.farewell(wire))
    }

    fn timed_out(&self) -> HandshakeError {
        self.welcoming.timed_out(&self.options)
    }

    fn timeout(&self) -> Duration {
        self.options.handshake_timeout
    }

    fn source(&self) -> Option<(BorrowedFd<'_>, Interest)> {
        let wire = self.wire.as_ref()?;
        Some((wire.fd(), self.welcoming.interest()))
    }

    fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.wire.as_ref().map(Wire::fd)
    }
}
