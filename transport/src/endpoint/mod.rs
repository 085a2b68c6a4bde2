//! Connections as programs use them.
//!
//! [`shared`] has what the handles of a connection share: `sending` and `receiving` are the states of
//! its directions, each in a `turn`, the lock that says who drives the half and who sleeps. `ops` are
//! what was posted, `ticket` its handles, `remote` puts and gets, `alarm` what wakes tasks, `facts` what does not change and
//! how a direction ends.

mod alarm;
pub(crate) mod begun;
mod closer;
mod counters;
mod facts;
pub(crate) mod gate;
mod listener;
mod message;
pub(crate) mod object;
pub(crate) mod ops;
mod progress;
pub(crate) mod queue;
pub(crate) mod reactor;
pub(crate) mod receiving;
pub(crate) mod remote;
mod scope;
pub(crate) mod sending;
pub(crate) mod shared;
pub(crate) mod spin;
pub(crate) mod ticket;
pub(crate) mod timer;
pub(crate) mod tools;
mod turn;
mod typed;
pub(crate) mod watcher;

use std::fmt;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use jstream::buffer::{Filled, PoolError, Spent};

pub use self::closer::Closer;
pub use self::counters::{Counters, device_counters};
pub use self::listener::{Cutter, Incoming, Listener, listen, listen_all};
pub use self::message::Message;
pub use self::object::{ObjectTicket, RecvObjectError, Remains, SendObjectError, UnsentObject};
pub use self::progress::Progress;
pub use self::queue::{Completion, CompletionQueue, Next, Outcome};
pub use self::remote::{Exposure, GetTicket, PutTicket, RemoteError, RemoteKey, Rights, Window};
pub use self::scope::{Scope, ScopedTicket};
pub use self::ticket::{RecvTicket, SendTicket};
pub use self::timer::Reminder;
pub use crate::device::connection::Limits;

use self::closer::Close;
use self::gate::Credit;
use self::message::{bytes_of, unmoved};
use self::ops::Notify;
use self::shared::{Patience, Shared};
use self::ticket::{RecvOp, SendOp};
use crate::address::Address;
use crate::device;
use crate::device::connection::{Body, Connection, Outbound};
use crate::error::{ConnectError, RecvError, SendError, Unsent};
use crate::header::Header;
use crate::options::Options;

/// One end of a connection. Any number of threads may use it at once, in both directions.
///
/// It is cheap to clone. The connection ends when the last clone and the last ticket is dropped, or
/// when somebody [closes](Self::close) it.
///
/// Messages are received in the order in which they were sent. What was posted goes before the calls
/// that wait, in the order of posting; among threads that wait at once there is no order.
///
/// Whoever waits carries on everything that was posted, in both directions, and whoever polls that of
/// its own. What was posted to be sent goes on besides when somebody waits for a message meanwhile, and
/// when nobody asks for it any more: a thread of the process then sees to it, and keeps the connection
/// until all is sent, or [`Options::send_timeout`](crate::Options::send_timeout) is over. So do receives that
/// are posted while somebody sleeps in a send. Nothing else goes on by itself; a [`Progress`] does it on the
/// side.
///
/// Whoever ends the process [finishes](Self::finish) first: what was posted and is not sent is lost.
///
/// Over sockets the system resets a connection that is dropped before all that came was received,
/// and a reset may cost the peer messages that are still on their way to it. Where that matters,
/// [`finish`](Self::finish), and receive until [`RecvError::Closed`] before dropping.
#[derive(Clone)]
pub struct Endpoint {
    shared: Arc<Shared>,
}

/// Connects to whoever listens on `address`, receiving according to `options`.
///
/// # Errors
///
/// [`ConnectError`] when nobody answers there, or with something else than this protocol.
pub fn connect(address: &Address, options: &Options) -> Result<Endpoint, ConnectError> {
    let connected = device::by_scheme(address.scheme())
        .ok_or_else(|| ConnectError::NoDevice {
            address: address.clone(),
        })
        .and_then(|device| device.connect(address, options));
    match connected {
        Ok(connection) => Ok(Endpoint::new(address, connection, options)),
        Err(error) => {
            tracing::debug!(%address, %error, "not connected");
            Err(error)
        }
    }
}

/// Connects to the cheapest of `addresses` that works, which [`Endpoint::address`] then says: inside
/// the process, else by shared memory, a Unix socket, TCP or io_uring.
///
/// # Errors
///
/// [`ConnectError::NoneWorks`], with the reason of the one that was tried last.
pub fn connect_cheapest(
    addresses: &[Address],
    options: &Options,
) -> Result<Endpoint, ConnectError> {
    let mut last = None;
    for device in device::devices() {
        for address in addresses {
            if address.scheme() == device.scheme() {
                match connect(address, options) {
                    Ok(endpoint) => return Ok(endpoint),
                    Err(error) => last = Some(error),
                }
            }
        }
    }
    let unknown = |address: &&Address| device::by_scheme(address.scheme()).is_none();
    let last = last.or_else(|| {
        let address = addresses.iter().find(unknown)?.clone();
        Some(ConnectError::NoDevice { address })
    });
    Err(match last {
        Some(last) => ConnectError::NoneWorks {
            tried: addresses.len(),
            last: Box::new(last),
        },
        None => ConnectError::NoAddress,
    })
}

impl Endpoint {
    pub(crate) fn new(address: &Address, connection: Connection, options: &Options) -> Self {
        Self {
            shared: Shared::new(address, connection, options),
        }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Where the other side is.
    #[must_use]
    pub fn peer(&self) -> &Address {
        &self.shared.facts().peer
    }

    /// The address that it was connected to, or accepted at.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.shared.facts().address
    }

    /// The scheme of the device that carries the messages.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        self.shared.facts().scheme
    }

    /// What the connection can do.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.shared.facts().limits
    }

    /// What the connection does without, though it was asked for or would be faster: a sentence for
    /// each.
    #[must_use]
    pub fn degraded(&self) -> &[String] {
        &self.shared.facts().degraded
    }

    /// What was sent and received so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.tally().counters()
    }

    /// What ends the connection from elsewhere, without keeping it alive.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::of(&self.shared)
    }

    /// Ends the connection, as [`Closer::close`] does.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Says to the peer that nothing more is sent, after everything posted was. The other direction
    /// goes on; over sockets the peer learns it when it has received everything.
    ///
    /// # Errors
    ///
    /// [`SendError::TimedOut`] when what was posted does not get away in time.
    pub fn finish(&self) -> Result<(), SendError> {
        self.shared.finish()
    }

    /// Sends one message whose payload is all of `segments`, one after another. Returns when the
    /// device has taken every byte; the segments are not looked at afterwards.
    ///
    /// `header.length` is filled in.
    ///
    /// # Errors
    ///
    /// [`SendError`]; its variants say whether the connection can still be used.
    #[inline]
    pub fn send_message(&self, header: Header, segments: &[IoSlice<'_>]) -> Result<(), SendError> {
        self.send_segments(header, segments, self.patience())
    }

    /// As [`send_message`](Self::send_message), but without waiting for its turn, for room, or for the
    /// peer. A message of which the device has taken a part goes on from a copy, as if it had been
    /// posted: nothing else is sent before it is done, and an end that it meets the next call tells.
    /// From [`Limits::eager`] bytes on, messages are copied first where jbufs don't move.
    ///
    /// # Errors
    ///
    /// [`SendError::WouldBlock`] when nothing was sent for that reason.
    #[inline]
    pub fn try_send_message(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
    ) -> Result<(), SendError> {
        self.send_segments(header, segments, Patience::None)
    }

    #[inline]
    pub(crate) fn send_segments(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
        patience: Patience,
    ) -> Result<(), SendError> {
        self.send_costly(header, segments, patience, Credit::FREE)
    }

    /// As [`send_segments`](Self::send_segments), for a message that needs credit of the peer:
    /// [`SendError::WouldBlock`] where there is none.
    ///
    /// A message is made where it is sent from: returned by a function, it would be copied. And one that costs
    /// nothing asks for no credit.
    #[inline(always)]
    pub(crate) fn send_costly(
        &self,
        header: Header,
        segments: &[IoSlice<'_>],
        patience: Patience,
        cost: Credit,
    ) -> Result<(), SendError> {
        let length = segments
            .iter()
            .try_fold(0u64, |sum, segment| sum.checked_add(segment.len() as u64));
        let length = length.unwrap_or(u64::MAX);
        self.shared.check_length(length)?;
        let mut message = Outbound::new(header, length, Body::Borrowed(segments));
        if matches!(patience, Patience::None) && self.is_long(&message.header) {
            if !self.shared.has_turn() {
                return Err(SendError::WouldBlock);
            }
            // The device may keep what it has begun for longer than it is lent.
            message.body = Body::Owned(self.shared.gather(segments));
        }
        self.shared.send_costly(&mut message, patience, cost)
    }

    /// Whether the device may have to wait for the peer before it has taken a message.
    fn is_long(&self, header: &Header) -> bool {
        let limits = &self.shared.facts().limits;
        !limits.moves && header.length >= limits.eager as u64
    }

    /// Sends one message whose payload stands in a jbuf. Inside the process the jbuf itself moves to
    /// the receiver; elsewhere it is given back to its pool once it was sent.
    ///
    /// # Errors
    ///
    /// [`Unsent`] gives the jbuf back and says why.
    #[inline]
    pub fn send_filled(&self, header: Header, filled: Filled) -> Result<(), Unsent> {
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

    /// A jbuf of at least `capacity` bytes, to be filled and sent. Where the
    /// [peer is trusted](Options::trust_peer) it is in memory that the peer reads too, if there is
    /// room, and sending it costs the same whatever its size; elsewhere it is of this side's pool.
    ///
    /// # Errors
    ///
    /// [`PoolError`] when neither has room.
    #[inline]
    pub fn take(&self, capacity: usize) -> Result<Spent, PoolError> {
        let facts = self.shared.facts();
        match facts.outbox().and_then(|outbox| outbox.take(capacity)) {
            Some(spent) => Ok(spent),
            None => facts.pool.take(capacity),
        }
    }

    /// A message cut for this connection.
    fn outbound(&self, header: Header, filled: Filled) -> (Outbound<'static>, Option<SendError>) {
        let length = Some(filled.len() as u64);
        self.shared.outbound(header, length, Body::Owned(filled))
    }

    #[inline]
    pub(crate) fn patience(&self) -> Patience {
        Patience::For(self.shared.facts().send_timeout)
    }

    /// Waits for the next message.
    ///
    /// # Errors
    ///
    /// [`RecvError`]; [`RecvError::Closed`] after the last message of a peer that ended properly.
    #[inline]
    pub fn recv_message(&self) -> Result<Message, RecvError> {
        self.receive(Patience::Endless)
    }

    /// Waits for the next message, but not longer than `timeout` (which the system may round up
    /// by some milliseconds).
    ///
    /// # Errors
    ///
    /// [`RecvError`]. After [`RecvError::TimedOut`] the connection can be used as before, and what
    /// had come of a message is kept.
    #[inline]
    pub fn recv_message_timeout(&self, timeout: Duration) -> Result<Message, RecvError> {
        self.receive(Patience::For(timeout))
    }

    /// The next message, if it is here.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] when it is not, or another [`RecvError`].
    #[inline]
    pub fn try_recv_message(&self) -> Result<Message, RecvError> {
        self.receive(Patience::None)
    }

    #[inline]
    fn receive(&self, patience: Patience) -> Result<Message, RecvError> {
        let (mut message, mut other) = (Message::nothing(), None);
        self.shared.receive(&mut message, &mut other, patience)?;
        match other {
            None => Ok(message),
            Some(arrived) => bytes_of(arrived, &self.shared),
        }
    }

    /// Waits for the next message and puts its payload at the front of `memory`; the header says how
    /// long it is. Small messages cost no jbuf that way.
    ///
    /// # Errors
    ///
    /// [`RecvError::TooSmall`] when it does not fit; it is then received next. Else as for
    /// [`recv_message`](Self::recv_message).
    #[inline]
    pub fn recv_into(&self, memory: &mut [u8]) -> Result<Header, RecvError> {
        self.shared.receive_into(memory, Patience::Endless)
    }

    /// As [`recv_into`](Self::recv_into), for so long at most.
    ///
    /// # Errors
    ///
    /// [`RecvError::TimedOut`] then.
    #[inline]
    pub fn recv_into_timeout(
        &self,
        memory: &mut [u8],
        timeout: Duration,
    ) -> Result<Header, RecvError> {
        self.shared.receive_into(memory, Patience::For(timeout))
    }

    /// As [`recv_into`](Self::recv_into), for a message that is here.
    ///
    /// # Errors
    ///
    /// [`RecvError::Empty`] when none is.
    #[inline]
    pub fn try_recv_into(&self, memory: &mut [u8]) -> Result<Header, RecvError> {
        self.shared.receive_into(memory, Patience::None)
    }

    /// Posts a jbuf to be sent, behind everything posted before. Whatever is wrong with it the ticket
    /// says.
    pub fn post_send(&self, header: Header, filled: Filled) -> SendTicket {
        let (message, refused) = self.outbound(header, filled);
        let id = self.shared.post_send(message, refused, Notify::Ticket);
        SendTicket::new(SendOp::new(self.shared.clone(), id))
    }

    /// Posts a jbuf to receive into, behind everything posted before. Where jbufs move, the message
    /// comes in the sender's, and this one goes back to its pool.
    ///
    /// A message that does not fit is an error at the ticket, and is received next.
    pub fn post_recv(&self, spent: Spent) -> RecvTicket {
        self.post_receive(Some(spent))
    }

    /// As [`post_recv`](Self::post_recv), into a jbuf that is taken from the pool when the message's
    /// length is known.
    pub fn post_recv_any(&self) -> RecvTicket {
        self.post_receive(None)
    }

    fn post_receive(&self, spent: Option<Spent>) -> RecvTicket {
        let id = self.shared.post_recv(spent, Notify::Ticket);
        RecvTicket::new(RecvOp::new(self.shared.clone(), id))
    }

    /// Sends a jbuf; the same as [`post_send`](Self::post_send), under the name that says what to do
    /// with the ticket.
    pub fn send_message_async(&self, header: Header, filled: Filled) -> SendTicket {
        self.post_send(header, filled)
    }

    /// Receives the next message; the same as [`post_recv_any`](Self::post_recv_any), under the name
    /// that says what to do with the ticket.
    pub fn recv_message_async(&self) -> RecvTicket {
        self.post_recv_any()
    }

    /// What becomes readable when a message may have come, for the program's own poll or epoll. It is
    /// to be [armed](Self::arm) before each sleep.
    ///
    /// # Errors
    ///
    /// What the system says when it is out of descriptors, or `NotConnected` when the connection has
    /// ended.
    pub fn as_fd(&self) -> io::Result<BorrowedFd<'_>> {
        let shared = &*self.shared;
        if let Some(source) = shared.source.get() {
            return Ok(source.as_fd());
        }
        let source = shared.source()?;
        Ok(shared.source.get_or_init(|| source).as_fd())
    }

    /// Prepares to sleep in the program's own poll or epoll. True when a message, or the end, is to be
    /// received first.
    #[must_use = "says whether to receive instead of sleeping"]
    pub fn arm(&self) -> bool {
        self.shared.arm()
    }
}

impl Close for Shared {
    fn close(&self) {
        Self::close(self);
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("peer", self.peer())
            .field("scheme", &self.scheme())
            .finish_non_exhaustive()
    }
}
