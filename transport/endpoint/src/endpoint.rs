//! Endpoints: connections as programs use them.
//!
//! Decision 033 has the reasons.

use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{EmptyBuffer, MessageBuffer, PoolError};

use super::closer::Closer;
use super::endpoint_info::EndpointInfo;
use super::gate::Credit;
use super::message::Message;
use super::ops::Notify;
use super::outcome::unmoved;
use super::receiving::Inbound;
use super::shared::{Patience, Shared};
use super::ticket::{RecvOp, RecvTicket, SendOp, SendTicket};
use super::unmoved::Unsent;
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;
use jstream_base::{RecvError, SendError};
use jstream_device::connection::{Body, Connection, Outbound};

/// One end of a connection. Any number of threads may use it at once, in both directions.
///
/// An endpoint is cheap to clone. The connection ends when the last clone and the last ticket are
/// dropped, or when a thread [closes](Self::close) it.
///
/// Messages are received in the order in which they were sent. Posted operations go before blocking
/// calls, in the order of posting. Among threads that block at the same time there is no order.
///
/// A blocking call drives all posted operations, in both directions. Polling a ticket drives at
/// least the operations of its direction. Posted sends also progress while a thread waits for a
/// message, and after their tickets were dropped: a background thread of the process then sends
/// them, and keeps the connection alive until everything is sent or
/// [`Options::send_timeout`](jstream_base::Options::send_timeout) expires. The same thread drives
/// receives that are posted while a thread sleeps in a send. No other operation progresses by
/// itself; attach the endpoint to a [`Progress`](crate::Progress) to drive it in the background.
///
/// Call [`finish`](Self::finish) before the process ends: messages that were posted with tickets
/// and are not sent by then are lost, and a peer that reads slowly may find a lost connection
/// instead of an ended one. The exit of the process waits only for messages that the background
/// thread sends, because their tickets were dropped or a call that does not wait has begun them.
///
/// Over sockets, the operating system resets a connection that is dropped before all received data
/// was read, and a reset may discard messages that are still on their way to the peer. To avoid
/// this, call [`finish`](Self::finish) and receive until [`RecvError::Closed`] before dropping the
/// endpoint.
#[derive(Clone)]
pub struct Endpoint {
    pub(super) shared: Arc<Shared>,
}

impl Endpoint {
    pub(crate) fn new(address: &Address, connection: Connection, options: &Options) -> Self {
        Self {
            shared: Shared::new(address, connection, options),
        }
    }

    /// Returns the state that all handles of the connection share.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the address of the peer.
    #[must_use]
    pub fn peer(&self) -> &Address {
        &self.shared.info().peer
    }

    /// Returns the properties of the connection, and how much was sent and received so far.
    #[must_use]
    pub fn info(&self) -> EndpointInfo<'_> {
        EndpointInfo::new(&self.shared)
    }

    /// Returns a handle that closes the connection from another thread. The handle does not keep
    /// the connection alive.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::new(&self.shared)
    }

    /// Closes the connection, as [`Closer::close`] does.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Shuts down the send direction after everything posted was sent, and tells the peer that no
    /// more messages follow. The receive direction stays open. Over sockets, the peer learns of the
    /// shutdown when it has received everything. When this returns, the operating system has taken
    /// all of it, so the process may end.
    ///
    /// # Errors
    ///
    /// [`SendError::TimedOut`] if the posted messages are not sent in time, or if the peer does not
    /// make room for the few bytes that end the direction.
    pub fn finish(&self) -> Result<(), SendError> {
        self.shared.finish(self.patience())
    }

    /// Sends one message whose payload is the concatenation of `segments`. Returns when the device
    /// has taken every byte; the segments are not read afterwards.
    ///
    /// `header.length` is filled in.
    ///
    /// # Errors
    ///
    /// [`SendError`]. Each variant documents whether the connection can still be used.
    #[inline]
    pub fn send_message(&self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        let patience = self.patience();
        self.shared
            .send_segments(header, segments, patience, Credit::FREE)
    }

    /// As [`send_message`](Self::send_message), but never waits: neither for messages that were
    /// posted before, nor for room, nor for the peer. If the device has taken only a part of the
    /// message, the rest is sent from a copy, as if it had been posted. Nothing else is sent before
    /// it, and if the connection ends meanwhile, the next call reports it. Messages of
    /// [`Limits::eager`](crate::Limits::eager) bytes or more are copied first if the device does
    /// not move buffers.
    ///
    /// # Errors
    ///
    /// [`SendError::WouldBlock`] if nothing was sent for one of these reasons.
    #[inline]
    pub fn try_send_message(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        self.shared
            .send_segments(header, segments, Patience::None, Credit::FREE)
    }

    /// Sends one message whose payload is in a buffer. Inside the process, the buffer itself moves
    /// to the receiver. With other devices, it returns to its pool after the message was sent.
    ///
    /// # Errors
    ///
    /// [`Unsent`] contains the error and the buffer.
    #[inline]
    pub fn send_buffer(&self, header: Header, filled: MessageBuffer) -> Result<(), Unsent> {
        let (mut message, refused) = self.outbound(header, filled);
        let result = match refused {
            Some(error) => Err(error),
            None => self.shared.send(&mut message, self.patience()),
        };
        result.map_err(|error| Unsent {
            error,
            filled: unmoved(match message.body {
                Body::Owned(filled) => Some(filled),
                _ => None,
            }),
        })
    }

    /// Takes a buffer of at least `capacity` bytes, to be filled and sent. If the [peer is
    /// trusted](Options::trust_peer) and there is room, the buffer is in memory that the peer also
    /// reads, and the cost of sending it does not depend on its size. Otherwise the buffer comes
    /// from the pool of this endpoint.
    ///
    /// # Errors
    ///
    /// [`PoolError`] if neither has room.
    #[inline]
    pub fn take(&self, capacity: usize) -> Result<EmptyBuffer, PoolError> {
        let info = self.shared.info();
        match info.outbox().and_then(|outbox| outbox.allocate(capacity)) {
            Some(empty) => Ok(empty),
            None => info.pool.take(capacity),
        }
    }

    /// Creates a message for this connection. Also returns the error if its length is not allowed.
    pub(super) fn outbound(
        &self,
        header: Header,
        filled: MessageBuffer,
    ) -> (Outbound<'static>, Option<SendError>) {
        let length = Some(filled.len() as u64);
        self.shared.outbound(header, length, Body::Owned(filled))
    }

    /// Returns the time that a blocking send waits.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn patience(&self) -> Patience {
        Patience::For(self.shared.info().send_timeout)
    }

    /// Blocks until the next message arrives.
    ///
    /// # Errors
    ///
    /// [`RecvError`]. After the last message of a peer that shut down cleanly,
    /// [`RecvError::Closed`].
    #[inline]
    pub fn recv_message(&self) -> Result<Message, RecvError> {
        self.receive(Patience::Endless)
    }

    /// Blocks until the next message arrives, but not longer than `timeout`. The system may round
    /// the timeout up by some milliseconds. If `timeout` is zero, takes a message that has already
    /// arrived, without reading the clock.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] if no message arrived in time, or [`RecvError::Empty`] if `timeout`
    /// is zero and none has arrived. After both, the connection can be used as before, and the
    /// received part of a message is kept. Otherwise as for [`recv_message`](Self::recv_message).
    #[inline]
    pub fn recv_message_within(&self, timeout: Duration) -> Result<Message, RecvError> {
        self.receive(Patience::within(timeout))
    }

    #[inline]
    fn receive(&self, patience: Patience) -> Result<Message, RecvError> {
        let mut inbound = Inbound::empty();
        self.shared.receive(&mut inbound, patience);
        match inbound.other {
            None => Ok(inbound.message),
            Some(other) => self.shared.convert_to_message(other?),
        }
    }

    /// Blocks until the next message arrives, and writes its payload to the front of `memory`. The
    /// header contains the length of the payload. A small message of which all has arrived needs no
    /// buffer of the pool this way; one that arrives in parts over a socket needs one meanwhile.
    ///
    /// # Errors
    ///
    /// [`RecvError::TooSmall`] if the payload does not fit; the message is then received by the
    /// next call. Otherwise as for [`recv_message`](Self::recv_message).
    #[inline]
    pub fn recv_into(&self, memory: &mut [u8]) -> Result<Header, RecvError> {
        self.shared.receive_into(memory, Patience::Endless)
    }

    /// As [`recv_into`](Self::recv_into), but does not block for longer than `timeout`. If
    /// `timeout` is zero, takes a message that has already arrived.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] if no message arrived in time, or [`RecvError::Empty`] if `timeout`
    /// is zero and none has arrived. Otherwise as for [`recv_into`](Self::recv_into).
    #[inline]
    pub fn recv_into_within(
        &self,
        memory: &mut [u8],
        timeout: Duration,
    ) -> Result<Header, RecvError> {
        self.shared.receive_into(memory, Patience::within(timeout))
    }

    /// Posts a buffer to be sent, behind everything posted before. The ticket reports any error.
    pub fn post_send(&self, header: Header, filled: MessageBuffer) -> SendTicket {
        let (message, refused) = self.outbound(header, filled);
        let id = self.shared.post_send(message, refused, Notify::Ticket);
        SendTicket::new(SendOp::new(self.shared.clone(), id))
    }

    /// Posts a receive, behind everything posted before. The message arrives in the given buffer.
    /// With `None`, the buffer is taken from the pool when the length of the message is known. If
    /// the device [moves](crate::Limits::moves) buffers, the message arrives in the sender's
    /// buffer, and a given one returns to its pool.
    ///
    /// If a message does not fit the given buffer, the ticket reports an error, and the message is
    /// received next.
    pub fn post_recv(&self, buffer: impl Into<Option<EmptyBuffer>>) -> RecvTicket {
        let id = self.shared.post_recv(buffer.into(), Notify::Ticket);
        RecvTicket::new(RecvOp::new(self.shared.clone(), id))
    }

    /// Returns a descriptor for the program's own poll or epoll, which becomes readable when a
    /// message may have arrived. Call [`arm`](Self::arm) before each sleep.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of descriptors, or `NotConnected` if the connection has
    /// ended.
    pub fn as_fd(&self) -> io::Result<BorrowedFd<'_>> {
        self.shared.source()
    }

    /// Prepares for a sleep in the program's own poll or epoll. Returns true if a message, or the
    /// end of the connection, must be received before sleeping.
    #[must_use = "returns whether to receive instead of sleeping"]
    pub fn arm(&self) -> bool {
        self.shared.arm()
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("peer", self.peer())
            .field("scheme", &self.shared.info().scheme)
            .finish_non_exhaustive()
    }
}
