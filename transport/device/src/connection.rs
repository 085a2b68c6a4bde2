//! Interface between devices and the endpoints above them.
//!
//! A device creates connections. A connection has two halves, each of which is driven by one thread
//! at a time, and a [`Control`] that any thread may use. The only call of a half that blocks is
//! `wait`. The endpoint decides which thread drives a half and when that thread sleeps:
//!
//! ```text
//! loop {
//!     if half.header()? is there  -> choose where it goes, half.payload(..)
//!     spin a while
//!     half.arm(None) == Armed::Ready  -> once more
//!     half.source() in poll or epoll, or half.wait(deadline), which does both at once
//! }
//! ```
//!
//! Unsafe code relies on the contract of [`Outgoing`] alone, which is an unsafe trait. A wrong
//! implementation of another trait loses messages or wake-ups.
//!
//! Decisions 029, 039 and 083 have the reasons.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use jstream::Erased;
use jstream::buffer::{BufferWriter, MessageBuffer, PoolError};

use super::deadline::Deadline;
use super::poll::sleep_on;
use super::shm::Outbox;
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;
use jstream_base::{AcceptError, ConnectError, HandshakeError, HeaderError, ListenError};
pub use jstream_sync::watcher::{Interest, Watcher};

/// A transport for messages.
///
/// A device provides reliable, ordered and bounded messages with a fixed header, and reports when
/// the peer is gone. A device never reconnects by itself.
pub trait Device: Send + Sync {
    /// Returns the URI scheme of the device's addresses.
    fn scheme(&self) -> &'static str;

    /// Listens on an address of this device.
    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError>;

    /// Connects to an address of this device and exchanges greetings.
    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError>;
}

/// The device side of a listener.
pub trait Accept: Send + Sync {
    /// Returns the listener's address. A port of 0 is replaced by the real port.
    fn local(&self) -> &Address;

    /// Returns the next pending connection, if there is one. Several threads may call this at the
    /// same time.
    fn try_accept(&self) -> Result<Option<Accepted>, AcceptError>;

    /// Returns a descriptor that is readable while a connection is pending, and always after the
    /// listener was closed. Spurious readiness is allowed.
    fn source(&self) -> BorrowedFd<'_>;

    /// Prepares to wait for the next connection; see [`Outgoing::arm`].
    fn arm(&self, _waker: &Waker) -> Armed {
        Armed::Source
    }

    /// Returns true if other processes have the listening socket, too, and may go on to accept
    /// connections when this is closed.
    fn is_shared(&self) -> bool {
        false
    }

    /// Stops listening and frees the address. `try_accept` then fails with `ClosedLocally`.
    fn close(&self);
}

/// An accepted connection before the greetings were exchanged.
pub struct Accepted {
    /// The address of the peer.
    pub peer: Address,
    /// The connection, whose greetings are not exchanged yet.
    pub half_made: Box<dyn Establish>,
}

/// A connection whose greetings are not exchanged yet. No method blocks, except
/// [`wait`](Self::wait).
///
/// `read_greeting`, then `accept`, are called until they succeed, or `decline` is called. After
/// `decline` or an error, `farewell` is called until the peer has gone, or the caller does not wait
/// any longer.
/// Between the calls, the caller sleeps as it does for a half of a connection.
pub trait Establish: Send {
    /// Receives the greeting of the peer. Returns true once it is complete and valid.
    fn read_greeting(&mut self) -> Result<bool, HandshakeError>;

    /// Answers the greeting that was heard. Returns the connection, once, when all greetings are
    /// exchanged.
    fn accept(&mut self) -> Result<Option<Connection>, HandshakeError>;

    /// Refuses the peer. It is told the reason, of which at most `MAX_REASON` bytes are sent, by
    /// this call and those of `farewell`. The peer's `connect` fails with `ConnectError::Refused`.
    fn decline(&mut self, reason: &str);

    /// Tells the peer the rest of the reason, and discards what it still sends. If the connection
    /// were closed with unread bytes, the system might discard the reason.
    fn farewell(&mut self) -> Farewell {
        Farewell::Gone
    }

    /// Returns the error of a peer that did not complete its part in time.
    fn timed_out(&self) -> HandshakeError;

    /// Returns the time within which the greetings have to be exchanged.
    fn timeout(&self) -> Duration;

    /// Prepares to sleep until the last call can make progress; see [`Outgoing::arm`]. A device
    /// whose calls never have to be repeated returns [`Armed::Ready`].
    fn arm(&mut self, _waker: &Waker) -> Armed {
        Armed::Source
    }

    /// Returns the descriptor to poll, and the readiness to poll for, if there is one.
    fn source(&self) -> Option<(BorrowedFd<'_>, Interest)>;

    /// Sleeps until the last call can make progress or the deadline has passed. May wake up
    /// spuriously.
    fn wait(&mut self, deadline: Deadline) -> io::Result<()> {
        if let Some(source) = self.source() {
            sleep_on([source], deadline)?;
        }
        Ok(())
    }

    /// Returns the connection's socket, if there is one.
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// State of a connection that was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Farewell {
    /// A part of the reason was not sent yet.
    Untold,
    /// The peer was told, and may still be sending.
    Told,
    /// The peer has gone, or there is no reason to wait for it.
    Gone,
}

/// Time for which a caller that blocks waits for a peer that it refuses.
const BRIEFLY: Duration = Duration::from_millis(200);

impl dyn Establish {
    /// Exchanges greetings within the handshake timeout.
    pub fn establish(mut self: Box<Self>) -> Result<Connection, HandshakeError> {
        let deadline = Deadline::after(self.timeout());
        loop {
            let tried = match self.read_greeting() {
                Ok(true) => self.accept(),
                Ok(false) => Ok(None),
                Err(error) => Err(error),
            };
            match tried {
                Ok(Some(connection)) => return Ok(connection),
                Ok(None) if deadline.has_passed() => return Err(self.timed_out()),
                Ok(None) => self
                    .wait(deadline)
                    .map_err(|source| HandshakeError::System { source })?,
                Err(error) => {
                    let brief = Deadline::after(BRIEFLY).or_sooner(deadline);
                    self.take_leave(Farewell::Gone, brief);
                    return Err(error);
                }
            }
        }
    }

    /// Refuses the peer, after its greeting has been heard if that arrives soon. Blocks only
    /// briefly.
    pub fn refuse(mut self: Box<Self>, reason: &str) {
        let deadline = Deadline::after(self.timeout().min(BRIEFLY));
        loop {
            match self.read_greeting() {
                Ok(false) if !deadline.has_passed() => {
                    if self.wait(deadline).is_err() {
                        break;
                    }
                }
                Ok(_) => break,
                // The device has told the peer about the error.
                Err(_) => return self.take_leave(Farewell::Told, deadline),
            }
        }
        self.decline(reason);
        self.take_leave(Farewell::Told, deadline);
    }

    /// Waits until the farewell has come this far.
    fn take_leave(&mut self, until: Farewell, deadline: Deadline) {
        loop {
            let progress = self.farewell();
            let is_over = progress == until || progress == Farewell::Gone || deadline.has_passed();
            if is_over || self.wait(deadline).is_err() {
                return;
            }
        }
    }
}

/// Maximum length of a transmitted reason, in bytes. Longer reasons are truncated.
pub(crate) const MAX_REASON: usize = 256;

/// An established connection.
pub struct Connection {
    /// The address of the peer.
    pub peer: Address,
    /// The scheme of the device that created the connection.
    pub scheme: &'static str,
    /// The send half.
    pub outgoing: Box<dyn Outgoing>,
    /// The receive half.
    pub incoming: Box<dyn Incoming>,
    /// Operations that any thread may call.
    pub control: Arc<dyn Control>,
    /// The limits of the connection.
    pub limits: Limits,
    /// The identity of the peer, as far as the device knows it.
    pub identity: PeerIdentity,
    /// Features that were requested or would be faster, but are not available: one sentence for
    /// each, for humans.
    pub degraded: Vec<String>,
}

/// The identity of a peer, as far as a device knows it.
#[derive(Debug, Clone, Default)]
pub struct PeerIdentity {
    /// The process, user and group of the peer, if the operating system reports them. The process
    /// is absent if it is not visible in the PID namespace of this process.
    pub process: Option<u32>,
    /// The user id of the peer's process.
    pub user: Option<u32>,
    /// The group id of the peer's process.
    pub group: Option<u32>,
    /// The peer's TLS certificate, in DER.
    pub certificate: Option<Arc<[u8]>>,
}

/// The limits of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest payload that the peer accepts, in bytes.
    pub max_send: u64,
    /// The longest payload that this side accepts, in bytes.
    pub max_receive: u64,
    /// The longest payload that is sent in one piece with its header, in bytes.
    pub inline: usize,
    /// The longest payload that is accepted without waiting for the peer while buffer space is
    /// available, in bytes.
    pub eager: usize,
    /// True if the device moves buffers and in-place objects to the peer without copying them.
    pub moves: bool,
}

impl Limits {
    /// Returns the limits of a device that sends nothing in one piece with its header, and moves
    /// nothing.
    #[doc(hidden)]
    #[must_use]
    pub fn of_lengths(max_send: u64, max_receive: u64, eager: usize) -> Self {
        Self {
            max_send,
            max_receive,
            inline: 0,
            eager,
            moves: false,
        }
    }
}

/// Operations on a connection that any thread may call.
pub trait Control: Send + Sync {
    /// Closes both directions immediately. All waiting threads wake up, and both halves then fail
    /// with [`Fault::ClosedLocally`]. If possible, the device still delivers the data that it has
    /// accepted.
    fn close(&self);

    /// Like [`close`](Self::close), for a peer that violated the protocol. The peer notices even
    /// while it is sending, and may lose data that the device has accepted.
    fn reject(&self) {
        self.close();
    }

    /// Returns true if the peer is known to accept no more data. Data that the peer sent earlier
    /// may still be unread. Makes a system call. A device that can't tell returns false.
    fn is_gone(&self) -> bool {
        false
    }

    /// Returns the source of buffers that the peer reads in place, if the device has one.
    fn outbox(&self) -> Option<&Outbox> {
        None
    }
}

/// A message that is being sent.
pub struct Outbound<'a> {
    /// The header, with the length of the payload.
    pub header: Header,
    /// The payload.
    pub body: Body<'a>,
    /// True if the peer sends a message of about the same length meanwhile, so that both sides are
    /// busy copying. A device may then let the receiver copy the payload from this side's memory,
    /// although that takes longer than if both sides copied one message together.
    pub is_exchange: bool,
    /// Number of bytes that the device has accepted, initially 0. Written by the device.
    pub taken: u64,
}

impl<'a> Outbound<'a> {
    /// Creates a message of the program.
    #[inline]
    pub fn new(header: Header, length: u64, body: Body<'a>) -> Self {
        Self {
            header: header.with_length(length).with_op(0),
            body,
            is_exchange: false,
            taken: 0,
        }
    }
}

/// The payload of a message that is being sent.
pub enum Body<'a> {
    /// Memory of the program, which must not change until the device is done.
    Borrowed(&'a [IoSlice<'a>]),
    /// A buffer. A device that moves the buffer replaces it by `Taken`. So does a device that keeps
    /// it until the kernel has released it; such a device puts the buffer, or a copy, back if
    /// sending fails.
    Owned(MessageBuffer),
    /// An in-place object. Only a device that [moves](Limits::moves) accepts it, and replaces it by
    /// `Taken`.
    Object(Erased),
    /// The device has taken the payload, or the message is the rest of the device's
    /// [gathered](Outgoing::flush) messages.
    Taken,
}

/// The result of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// The device has accepted the whole message, and does not read its memory any more.
    Done,
    /// The device has accepted a part of the message, or still reads its memory. This message must
    /// be completed before anything else can be sent.
    Begun,
    /// The device has accepted nothing.
    Untouched,
}

/// The send half of a connection. Dropping it tells the peer that no more messages follow; accepted
/// data is still delivered.
///
/// # Safety
///
/// Between calls, the device reads the memory of a message only from a push that returned
/// [`Push::Begun`] until a push returns [`Push::Done`], or [`abandon`](Self::abandon) or the drop
/// of this half returns.
pub unsafe trait Outgoing: Send {
    /// Sends as much of a message as is possible without blocking. After `Begun`, the next push
    /// must be of the same message, and the memory of its payload must neither move nor change
    /// (`message` itself may move).
    fn push(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault>;

    /// Gives up a message that was begun. When this returns, the device does not read the memory of
    /// the message any more. The direction is broken, and every later push fails. May block briefly
    /// in a system call.
    fn abandon(&mut self, message: &mut Outbound<'_>);

    /// Returns true if the device gathers small messages.
    fn gathers(&self) -> bool {
        false
    }

    /// Copies a message to the gather buffer, which is sent before the next message that is pushed,
    /// or by `flush`. Returns false if the caller has to push the message instead, because the
    /// gather buffer is full or the device gathers nothing. Must not be called while a message is
    /// begun.
    fn gather(&mut self, _header: Header, _segments: &[IoSlice<'_>]) -> bool {
        false
    }

    /// Sends the gathered messages. If the device can't accept all of them now, returns the rest as
    /// a message that the caller has to push next. The device may have accepted a part of it.
    fn flush(&mut self) -> Result<Option<Outbound<'static>>, Fault> {
        Ok(None)
    }

    /// Tells the peer that nothing follows, and waits until the system has taken the last byte of
    /// this. Returns false if it has not by the deadline. Nothing can be pushed afterwards.
    ///
    /// A dropped half does the same, but does not wait: what the system has not taken by the end of
    /// the process is lost, and the peer then reports a lost connection. A device whose peer learns
    /// of the end in any case has nothing to do here.
    fn finish(&mut self, _deadline: Deadline) -> bool {
        true
    }

    /// Prepares to sleep until a push can make progress. Without a waker, or if the result is
    /// [`Armed::Source`], the sleeping thread polls [`source`](Self::source).
    fn arm(&mut self, waker: Option<&Waker>) -> Armed;

    /// Returns the descriptor to poll after arming, and the readiness to poll for.
    fn source(&self) -> (BorrowedFd<'_>, Interest);

    /// Arms and sleeps until a push can make progress or the deadline has passed. May wake up
    /// spuriously.
    fn wait(&mut self, deadline: Deadline) -> Result<(), Fault>;
}

/// The receive half of a connection.
///
/// Dropping it tells the peer immediately if the connection is within the process or over shared
/// memory. Over sockets, the peer is told when both halves were dropped.
pub trait Incoming: Send {
    /// Returns the header of the next message, if it has arrived. Returns the same header until
    /// `payload` has returned the message. The length in the header is at most
    /// [`Limits::max_receive`], unless the limit was [lifted](Self::lift_limit).
    fn header(&mut self) -> Result<Option<Header>, Fault>;

    /// Continues to receive the payload of the message whose header was returned. `into` is the
    /// buffer that the caller has chosen, with capacity for the whole payload, or `None`, which the
    /// device replaces by a buffer of the pool. If that buffer has room for only a part of the
    /// payload, a call that finds it full replaces it by one for all of it. `into` holds the bytes
    /// received so far, and must be the same in each call for one message. When the payload is
    /// complete, it is returned and `into` is `None`. A device that moves buffers may return
    /// another buffer than the one in `into`.
    fn payload(&mut self, into: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault>;

    /// Like [`payload`](Self::payload), for a payload that is not wanted. A device that copies
    /// payloads drops the bytes instead, needs no buffer, and returns an empty payload. All calls
    /// for one message must be calls of the same method.
    fn discard(&mut self, into: &mut Option<BufferWriter>) -> Result<Option<Payload>, Fault> {
        self.payload(into)
    }

    /// Accepts messages of any length from now on. The caller judges each header before it asks for
    /// the payload.
    fn lift_limit(&mut self);

    /// Returns the size of the first buffer that [`payload`](Self::payload) takes from the pool for
    /// a message of `length` bytes.
    fn first_buffer(&self, length: u64) -> u64 {
        length
    }

    /// Receives the whole next message, if no part of it was received, and stores it in `header`
    /// and `payload`. A device without a faster path for this returns [`Whole::Other`].
    fn receive(
        &mut self,
        _header: &mut Header,
        _payload: &mut MessageBuffer,
    ) -> Result<Whole, Fault> {
        Ok(Whole::Other)
    }

    /// Receives the next message into the front of `memory`, if all of it has arrived, no part of
    /// it was received, it fits, and `wants` accepts its header. A device without a faster path for
    /// this than by a buffer returns [`Whole::Other`].
    fn receive_into(
        &mut self,
        _memory: &mut [u8],
        _header: &mut Header,
        _wants: &dyn Fn(&Header) -> bool,
    ) -> Result<Whole, Fault> {
        Ok(Whole::Other)
    }

    /// Returns true if the whole next message has arrived, so that receiving it needs no system
    /// call. A device that gathers nothing returns false.
    fn has_whole(&self) -> bool {
        false
    }

    /// Returns true if no received bytes are left and [`wait`](Self::wait) receives in the system
    /// call that sleeps. A receive attempt before `wait` is then a wasted call.
    fn receives_asleep(&self) -> bool {
        false
    }

    /// Returns the number of bytes received of an incomplete message, by which slow peers are
    /// detected.
    fn begun(&self) -> u64;

    /// Prepares to sleep until data arrives; see [`Outgoing::arm`].
    fn arm(&mut self, waker: Option<&Waker>) -> Armed;

    /// Returns the descriptor to poll for readability after arming.
    fn source(&self) -> BorrowedFd<'_>;

    /// Lets `watcher` call the waker, without a registration for this connection alone. To be
    /// called after arming with a waker returned [`Armed::Source`]. Returns false if the device
    /// does not support this.
    fn watch(&mut self, _waker: &Waker, _watcher: &Arc<Watcher>) -> io::Result<bool> {
        Ok(false)
    }

    /// Arms and sleeps until data has arrived or the deadline has passed. May wake up spuriously.
    /// If that saves a system call, it also receives; the next `header` or `payload` then finds the
    /// data. `into` is as for `payload`, of the message that was begun.
    fn wait(&mut self, into: &mut Option<BufferWriter>, deadline: Deadline) -> Result<(), Fault>;
}

/// The result of receiving a whole message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whole {
    /// The whole message was received.
    Here,
    /// No message has arrived.
    Nothing,
    /// The caller has to use `header` and `payload`.
    Other,
}

/// A received payload.
pub enum Payload {
    /// Bytes that were not validated yet.
    Bytes(MessageBuffer),
    /// An object of this process that was moved.
    Object(Erased),
}

/// The result of arming a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Armed {
    /// Progress is possible now, so the caller must not sleep.
    Ready,
    /// The waker will be called once.
    Waker,
    /// The source will become ready.
    Source,
}

/// The reason why a half of a connection fails. All faults except [`NoBuffer`](Self::NoBuffer) are
/// permanent.
#[derive(Debug)]
pub enum Fault {
    /// The connection was closed by this program.
    ClosedLocally,
    /// The peer has ended its direction properly: it sends or accepts no more messages.
    Ended,
    /// The connection failed: the peer died, or ended inside a message (`UnexpectedEof`).
    Lost(io::Error),
    /// The peer announced a payload that exceeds the limit.
    TooLarge {
        /// Length of the payload, in bytes.
        length: u64,
    },
    /// The peer sent data that no peer of this version sends.
    Malformed(HeaderError),
    /// The pool has no free buffer. The message stays queued, and the call may be repeated.
    NoBuffer {
        /// Length of the payload, in bytes.
        length: u64,
        /// The error of the pool.
        source: PoolError,
    },
}
