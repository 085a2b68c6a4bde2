//! Messages over anything that carries bytes in order.
//!
//! ```text
//! client:  Hello                             messages
//! server:         Hello Verdict [reason]     messages
//! ```
//!
//! A message is a [`Header`] and its payload, one after the other. A side that has
//! no more to say sends [`FAREWELL`](assembly::FAREWELL): a stream that ends without it has lost
//! its peer.
//!
//! `lent` is a jbuf that a wire keeps until the system has let go of it. `hello` and `greeting` are what stands before the first message, `assembly` makes messages of
//! bytes and knows no system, `line` is what the halves of a connection share, `outgoing` and
//! `incoming` are the halves, `socket` is a [`Wire`] over a socket.

pub(crate) mod assembly;
mod broken;
mod gathered;
pub(crate) mod greeting;
pub(crate) mod hello;
mod incoming;
pub(crate) mod lent;
mod line;
pub(crate) mod listening;
mod outgoing;
pub(crate) mod socket;
#[cfg(test)]
pub(crate) mod tests;

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::Filled;
use socket2::MaybeUninitSlice;

use self::hello::Hello;
use self::incoming::StreamIncoming;
use self::lent::Lent;
use self::line::Line;
use self::outgoing::StreamOutgoing;
use super::connection::{Armed, Connection, Interest, Limits};
use super::deadline::Deadline;
use super::poll::sleep_on;
use crate::address::Address;
use crate::endpoint::watcher::Watcher;
use crate::header::Header;
use crate::options::Options;

/// Payloads of up to so many bytes come in one call with their header.
const INLINE: usize = assembly::AHEAD - Header::WIRE_LENGTH;

/// What sockets take at first, before the system has learned what they need.
const EAGER: usize = 16 << 10;

/// What carries bytes in order, in both directions, each of which is used by one thread at a time.
///
/// # Safety
///
/// Where `try_read`, `try_read_last` or `read` says that it received `n` bytes, it has initialised the first `n`
/// bytes of `slices`, one slice after the other.
pub(crate) unsafe trait Wire: Send + Sync + 'static {
    /// Receives what is here, without waiting: `None` when nothing is, `Some(0)` at the end.
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>>;

    /// Sends what fits now: `None` when nothing does.
    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>>;

    /// As [`try_write`](Self::try_write), where more follows at once.
    fn try_write_more(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        self.try_write(&[IoSlice::new(bytes)])
    }

    /// Whether jbufs of that length are lent: what was sent of one, the system may go on reading.
    fn lends(&self, _length: usize) -> bool {
        false
    }

    /// A jbuf that is about to be sent, and belongs to this wire as well from then on.
    fn lend(&self, jbuf: Filled) -> Lent {
        Lent::new(jbuf)
    }

    /// As [`try_write`](Self::try_write), of the bytes of a jbuf from `from` on.
    fn try_write_lent(&self, lent: &Lent, from: usize) -> io::Result<Option<usize>> {
        self.try_write(&[IoSlice::new(lent.bytes().get(from..).unwrap_or_default())])
    }

    /// Nothing more is sent of a jbuf, which goes back to its pool when the system has let go of it.
    fn end_lending(&self, _lent: Lent) {}

    /// As [`try_read`](Self::try_read), but sleeps until something is here, the deadline has
    /// passed, or for no reason. Where a call of the system does both, one is enough.
    fn read(
        &self,
        _patience: &mut Patience,
        deadline: Deadline,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Option<usize>> {
        self.sleep(Interest::Readable, deadline)?;
        self.try_read(slices)
    }

    /// Whether [`read`](Self::read) is one call of the system.
    fn reads_asleep(&self) -> bool {
        false
    }

    /// Sleeps until reading or writing may get further, the deadline has passed, or for no reason.
    fn sleep(&self, interest: Interest, deadline: Deadline) -> io::Result<()> {
        sleep_on([self.source(interest)], deadline)?;
        Ok(())
    }

    /// Ends the sending direction: the peer reads what was sent, and then the end.
    fn end_sending(&self);

    /// Ends both directions at once, and wakes whoever sleeps on them.
    fn end(&self);

    /// Ends both directions at once, so that the peer learns it even if nobody reads what it sends; what
    /// is on its way to the peer may be lost.
    fn reset(&self) {
        self.end();
    }

    /// As [`try_read`](Self::try_read), of who wants to see the end of what has come.
    fn try_read_last(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        self.try_read(slices)
    }

    /// As [`Incoming::watch`](super::connection::Incoming::watch), for reading.
    fn watch(&self, _waker: &Waker, _watcher: &Arc<Watcher>) -> io::Result<bool> {
        Ok(false)
    }

    /// Prepares to sleep until reading or writing may get further.
    fn arm(&self, _interest: Interest, _waker: Option<&Waker>) -> Armed {
        Armed::Source
    }

    /// What becomes ready, and how, when reading or writing may get further, or the peer is gone.
    fn source(&self, interest: Interest) -> (BorrowedFd<'_>, Interest) {
        (self.fd(), interest)
    }

    /// Becomes ready when reading or writing may get further, or the peer is gone.
    fn fd(&self) -> BorrowedFd<'_>;
}

/// Makes a connection of a wire on which the greetings were exchanged.
pub(crate) fn connection(
    wire: impl Wire,
    (peer, scheme): (Address, &'static str),
    theirs: Hello,
    options: &Options,
) -> Connection {
    let line = Arc::new(Line::new(wire));
    Connection {
        peer,
        scheme,
        outgoing: Box::new(StreamOutgoing::new(line.clone(), options)),
        incoming: Box::new(StreamIncoming::new(line.clone(), options)),
        control: line,
        limits: Limits {
            max_send: theirs.max_message,
            max_receive: options.max_message,
            inline: INLINE,
            eager: EAGER,
            moves: false,
        },
        peer_user: None,
        degraded: Vec::new(),
    }
}

/// How long calls that receive block, as far as the system was told: it is told only when that has
/// to change, so that a connection in steady use makes no call for it.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// For ever, at first.
    told: Option<Duration>,
    /// Whether the last call received nothing.
    in_vain: bool,
}

/// Reads exactly as much as `into` has room for, whatever it takes until the deadline. How many
/// bytes came, when not all did.
fn read_exact(wire: &dyn Wire, into: &mut [u8], deadline: Deadline) -> Result<(), Short> {
    let mut received = 0usize;
    while let Some(rest) = into.get_mut(received..).filter(|rest| !rest.is_empty()) {
        let mut piece = [std::mem::MaybeUninit::uninit(); 64];
        let most = rest.len().min(piece.len());
        let mut slices = [MaybeUninitSlice::new(piece.split_at_mut(most).0)];
        match wire.try_read(&mut slices) {
            Ok(Some(0)) => return Err(Short::Ended { received }),
            Ok(Some(n)) => {
                for (to, from) in rest.iter_mut().zip(piece.iter().take(n)) {
                    // SAFETY: the wire has initialised the first `n` bytes.
                    *to = unsafe { from.assume_init() };
                }
                received = received.saturating_add(n);
            }
            Ok(None) => sleep(wire, Interest::Readable, received, deadline)?,
            Err(error) => return Err(Short::Broken(error)),
        }
    }
    Ok(())
}

/// Writes all of `bytes`, whatever it takes until the deadline.
fn write_all(wire: &dyn Wire, mut bytes: &[u8], deadline: Deadline) -> Result<(), Short> {
    while !bytes.is_empty() {
        match wire.try_write(&[IoSlice::new(bytes)]) {
            Ok(Some(n)) => bytes = bytes.get(n..).unwrap_or_default(),
            Ok(None) => sleep(wire, Interest::Writable, 0, deadline)?,
            Err(error) => return Err(Short::Broken(error)),
        }
    }
    Ok(())
}

fn sleep(
    wire: &dyn Wire,
    interest: Interest,
    received: usize,
    deadline: Deadline,
) -> Result<(), Short> {
    if deadline.has_passed() {
        return Err(Short::TimedOut { received });
    }
    wire.sleep(interest, deadline).map_err(Short::Broken)
}

/// Why not all bytes came or went.
#[derive(Debug)]
enum Short {
    TimedOut { received: usize },
    Ended { received: usize },
    Broken(io::Error),
}
