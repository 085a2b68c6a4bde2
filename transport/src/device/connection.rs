//! What a device does, as the endpoints above it use it.
//!
//! A device makes connections. A connection has two halves, each of which is driven by one thread
//! at a time, and a [`Control`] that any thread may use. No call of a half waits, but `wait`. Who
//! drives a half, and when it sleeps, is decided by the endpoint:
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
//! These traits are private to the crate: unsafe code may rely on what they promise.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;

use jstream::Erased;
use jstream::buffer::{Filled, Filling, PoolError};

use super::deadline::Deadline;
use super::shm::Outbox;
use crate::address::Address;
use crate::endpoint::watcher::Watcher;
use crate::error::{AcceptError, ConnectError, HandshakeError, HeaderError, ListenError};
use crate::header::Header;
use crate::options::Options;

/// A way for messages to travel.
///
/// A device promises reliable, ordered, bounded messages with a fixed header, and says when the
/// peer is gone. It never connects again by itself.
pub(crate) trait Device: Send + Sync {
    /// What its addresses begin with.
    fn scheme(&self) -> &'static str;

    /// Listens on an address of this device.
    fn listen(&self, address: &Address, options: &Options) -> Result<Box<dyn Accept>, ListenError>;

    /// Connects to an address of this device, greetings included.
    fn connect(&self, address: &Address, options: &Options) -> Result<Connection, ConnectError>;
}

/// What a device does behind a listener.
pub(crate) trait Accept: Send + Sync {
    /// Where it listens, with the port that port 0 became.
    fn local(&self) -> &Address;

    /// The next connection, if one waits. Several threads may ask at once.
    fn try_accept(&self) -> Result<Option<Accepted>, AcceptError>;

    /// Is readable while a connection waits, and for ever once it was closed. Spurious readiness is
    /// allowed.
    fn source(&self) -> BorrowedFd<'_>;

    /// As for [`Outgoing::arm`], for the next connection.
    fn arm(&self, _waker: &Waker) -> Armed {
        Armed::Source
    }

    /// Stops listening and frees the address; `try_accept` then fails with `ClosedLocally`.
    fn close(&self);
}

/// A connection that was accepted, and whose peer has not been told so.
pub(crate) struct Accepted {
    pub(crate) peer: Address,
    pub(crate) half_made: Box<dyn Establish>,
}

pub(crate) trait Establish: Send {
    /// Exchanges greetings, in no longer than the handshake's time-out.
    fn establish(self: Box<Self>) -> Result<Connection, HandshakeError>;

    /// The socket that it came by, where it is one: shutting it down ends `establish`.
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Tells the peer why it is not wanted (at most [`MAX_REASON`] bytes of it), without waiting
    /// long. The peer's `connect` fails with `ConnectError::Refused`.
    fn refuse(self: Box<Self>, reason: &str);
}

/// The longest reason that travels, in bytes; longer ones are cut.
pub(crate) const MAX_REASON: usize = 256;

/// An established connection.
pub(crate) struct Connection {
    pub(crate) peer: Address,
    /// The scheme of the device that made it.
    pub(crate) scheme: &'static str,
    pub(crate) outgoing: Box<dyn Outgoing>,
    pub(crate) incoming: Box<dyn Incoming>,
    pub(crate) control: Arc<dyn Control>,
    pub(crate) limits: Limits,
    /// The user id of the peer's process, if the system tells it.
    pub(crate) peer_user: Option<u32>,
    /// What the connection does without, though it was asked for or would be faster: one sentence
    /// each, for people.
    pub(crate) degraded: Vec<String>,
}

/// What a connection can do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest payload that the peer takes, in bytes.
    pub max_send: u64,
    /// The longest payload that is received, in bytes.
    pub max_receive: u64,
    /// Payloads of up to so many bytes travel together with their header.
    pub inline: usize,
    /// Payloads of up to so many bytes are taken without waiting for the peer, as long as there is
    /// room at all.
    pub eager: usize,
    /// Whether a jbuf, or an object in place, moves to the peer as it is.
    pub moves: bool,
}

/// What any thread may do to a connection.
pub(crate) trait Control: Send + Sync {
    /// Ends both directions at once: whoever waits wakes, and both halves then say
    /// [`Fault::ClosedLocally`]. What the device has taken is still delivered where the device can.
    fn close(&self);

    /// As [`close`](Self::close), because the peer does not keep to the rules: it notices even while it
    /// sends, and need not read what the device has taken.
    fn reject(&self) {
        self.close();
    }

    /// Whether the peer is known to take nothing any more, though what it has sent before may still be here. A call of
    /// the system. Devices that can't tell say no.
    fn is_gone(&self) -> bool {
        false
    }

    /// Where jbufs are taken that the peer reads in place, if there is such a thing.
    fn outbox(&self) -> Option<&Outbox> {
        None
    }
}

/// A message on its way out.
pub(crate) struct Outbound<'a> {
    /// With its length filled in.
    pub(crate) header: Header,
    pub(crate) body: Body<'a>,
    /// For the device: how much of it was taken. 0 at first.
    pub(crate) taken: u64,
}

impl<'a> Outbound<'a> {
    /// A message of the program.
    #[inline]
    pub(crate) fn new(header: Header, length: u64, body: Body<'a>) -> Self {
        Self {
            header: Header {
                op: 0,
                ..header.with_length(length)
            },
            body,
            taken: 0,
        }
    }
}

/// What stands behind the header.
pub(crate) enum Body<'a> {
    /// Memory of the program, which is left alone until the device is done.
    Borrowed(&'a [IoSlice<'a>]),
    /// A jbuf. A device that moves it leaves `Taken`, and so does one that keeps it until the system has let
    /// go of it; that one puts it, or a copy, back where sending fails.
    Owned(Filled),
    /// An object in place, which only a device that [moves](Limits::moves) takes; it leaves `Taken`.
    Object(Erased),
    /// It has gone, or is the rest of what the device had [gathered](Outgoing::flush).
    Taken,
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Push {
    /// The device has taken everything, and reads none of the message's memory any more.
    Done,
    /// The device has taken a part, or still reads the message's memory. Nothing else can be sent
    /// before this message is done.
    Begun,
    /// The device has taken nothing.
    Untouched,
}

/// The half of a connection that sends. Dropping it tells the peer that nothing more comes; what was
/// taken is still delivered. After a drop the device reads no message's memory.
pub(crate) trait Outgoing: Send {
    /// Takes what it can of a message now. As long as it answers `Begun`, the next push is of the
    /// same message, whose memory stays where it is and as it is (`message` itself may move).
    fn push(&mut self, message: &mut Outbound<'_>) -> Result<Push, Fault>;

    /// Gives up a message that was begun. When it returns, the device reads none of its memory any
    /// more; the direction is broken, and every later push fails. May wait briefly for the system.
    fn abandon(&mut self, message: &mut Outbound<'_>);

    /// Whether it gathers small messages.
    fn gathers(&self) -> bool {
        false
    }

    /// Keeps a copy of a message, which goes with the next one that is pushed, or when it is flushed. False where that
    /// has to be pushed, as there is no room, or the device gathers nothing. Not called while a message is begun.
    fn gather(&mut self, _header: Header, _segments: &[IoSlice<'_>]) -> bool {
        false
    }

    /// Sends what was gathered. What the device does not take now is a message that is to be pushed next, of which it
    /// may have taken a part.
    fn flush(&mut self) -> Result<Option<Outbound<'static>>, Fault> {
        Ok(None)
    }

    /// Prepares to sleep until a push may get further. Without a waker, or when it answers
    /// [`Armed::Source`], whoever sleeps polls [`source`](Self::source).
    fn arm(&mut self, waker: Option<&Waker>) -> Armed;

    /// What to poll once armed.
    fn source(&self) -> (BorrowedFd<'_>, Interest);

    /// Arms and sleeps until a push may get further, the deadline has passed, or for no reason.
    fn wait(&mut self, deadline: Deadline) -> Result<(), Fault>;
}

/// The half of a connection that receives.
///
/// Dropping it tells the peer at once inside the process and over shared memory; over sockets the
/// peer learns it when both halves are gone.
pub(crate) trait Incoming: Send {
    /// The header of the next message, once it is here: the same one until `payload` has given its
    /// message. Its length is at most [`Limits::max_receive`].
    fn header(&mut self) -> Result<Option<Header>, Fault>;

    /// Goes on receiving the payload of the message whose header was given. `into` is where the
    /// program wants it, with room for all of it, or `None`; then the device puts a jbuf of the pool
    /// there. What has come so far stands in `into`, which is the same in each call for one message.
    /// When all is there, the payload is given and `into` is `None`; a device that moves jbufs may
    /// give another one than was in `into`.
    fn payload(&mut self, into: &mut Option<Filling>) -> Result<Option<Payload>, Fault>;

    /// Receives the next message as a whole, where nothing of it was begun, and puts it in the place of
    /// what is there. A device for which this is no shorter way leaves it at that.
    fn receive(&mut self, _header: &mut Header, _payload: &mut Filled) -> Result<Whole, Fault> {
        Ok(Whole::Other)
    }

    /// Receives the next message into the front of `memory`, where all of it is here, nothing of it was
    /// begun, and it fits. A device for which this is no shorter way than by a jbuf leaves it at that.
    fn receive_into(&mut self, _memory: &mut [u8], _header: &mut Header) -> Result<Whole, Fault> {
        Ok(Whole::Other)
    }

    /// As [`receive_into`](Self::receive_into), for a message that `wants` agrees to.
    fn receive_wanted(
        &mut self,
        _memory: &mut [u8],
        _header: &mut Header,
        _wants: &dyn Fn(&Header) -> bool,
    ) -> Result<Whole, Fault> {
        Ok(Whole::Other)
    }

    /// Whether the next message is here as a whole, so that receiving it asks nobody. A device that gathers nothing does
    /// not say so.
    fn has_whole(&self) -> bool {
        false
    }

    /// Whether nothing is here that was not given, and [`wait`](Self::wait) receives by the call that sleeps: then a look
    /// before it is a call in vain.
    fn receives_asleep(&self) -> bool {
        false
    }

    /// How many bytes of a message are here that is not complete: what a slow peer is measured by.
    fn begun(&self) -> u64;

    /// As for [`Outgoing::arm`], for whatever comes.
    fn arm(&mut self, waker: Option<&Waker>) -> Armed;

    /// What to poll once armed: always for being readable.
    fn source(&self) -> BorrowedFd<'_>;

    /// Once it is armed with a waker, and answers [`Armed::Source`]: has the waker called by `watcher`
    /// without a registration for this connection alone. False where there is no such way.
    fn watch(&mut self, _waker: &Waker, _watcher: &Arc<Watcher>) -> io::Result<bool> {
        Ok(false)
    }

    /// Arms and sleeps until something has come, the deadline has passed, or for no reason. Where
    /// that saves a call, it receives at the same time; what it receives, the next `header` or
    /// `payload` finds. `into` is as for `payload`, of the message that was begun.
    fn wait(&mut self, into: &mut Option<Filling>, deadline: Deadline) -> Result<(), Fault>;
}

/// What there is of the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// All of it, and it was received.
    Here,
    Nothing,
    /// What `header` and `payload` say.
    Other,
}

/// What was received.
pub(crate) enum Payload {
    /// Bytes that nobody has believed yet.
    Bytes(Filled),
    /// An object of this process, moved.
    Object(Erased),
}

/// How to sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Armed {
    /// Not at all: something can be done now.
    Ready,
    /// The waker is going to be called, once.
    Waker,
    /// The source becomes ready.
    Source,
}

/// For which readiness a source is polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    Readable,
    Writable,
}

/// What is wrong with a half of a connection. All but [`NoBuffer`](Self::NoBuffer) stay.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The connection was closed in this program.
    ClosedLocally,
    /// The peer has ended properly: it sends nothing more, or takes nothing more.
    Ended,
    /// The connection broke: the peer died, or ended inside a message (`UnexpectedEof`).
    Lost(io::Error),
    /// The peer announced a payload of so many bytes, which is more than is allowed.
    TooLarge { length: u64 },
    /// The peer sent what nobody of this version sends.
    Malformed(HeaderError),
    /// The pool gave no jbuf: the message waits, and the call may be repeated.
    NoBuffer { length: u64, source: PoolError },
}
