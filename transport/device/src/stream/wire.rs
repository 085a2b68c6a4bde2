//! The stream of bytes that carries messages.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::MessageBuffer;
use socket2::MaybeUninitSlice;

use super::lent::Lent;
use crate::connection::{Armed, Interest};
use crate::deadline::Deadline;
use crate::poll::sleep_on;
use jstream_sync::watcher::Watcher;

/// A bidirectional stream of ordered bytes. Each direction is used by one thread at a time.
///
/// # Safety
///
/// If `try_read`, `try_read_last` or `read` returns that it received `n` bytes, it must have
/// initialised the first `n` bytes of `slices`, one slice after the other.
pub(crate) unsafe trait Wire: Send + Sync + 'static {
    /// Receives the available bytes without blocking. Returns `None` if there are none, and
    /// `Some(0)` at the end of the stream.
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>>;

    /// Sends as many bytes as is possible without blocking. Returns `None` if no byte could be
    /// sent.
    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>>;

    /// Like [`try_write`](Self::try_write), for bytes that are followed immediately by more.
    fn try_write_more(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        self.try_write(&[IoSlice::new(bytes)])
    }

    /// Returns true if buffers of this length are lent, which means that the kernel may read a
    /// buffer after its bytes were sent.
    fn lends(&self, _length: usize) -> bool {
        false
    }

    /// Makes the wire a second owner of a buffer that is about to be sent.
    fn lend(&self, jbuf: MessageBuffer) -> Lent {
        Lent::new(jbuf)
    }

    /// Like [`try_write`](Self::try_write), for the bytes of a lent buffer from the offset `from`
    /// on.
    fn try_write_lent(&self, lent: &Lent, from: usize) -> io::Result<Option<usize>> {
        self.try_write(&[IoSlice::new(lent.bytes().get(from..).unwrap_or_default())])
    }

    /// Ends the sending of a lent buffer, which returns to its pool when the kernel has released
    /// it.
    fn end_lending(&self, _lent: Lent) {}

    /// Like [`try_read`](Self::try_read), but first blocks until bytes are available or the
    /// deadline has passed. May wake up spuriously. An implementation can use one system call for
    /// both.
    fn read(
        &self,
        _patience: &mut Patience,
        deadline: Deadline,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<Option<usize>> {
        self.sleep(Interest::Readable, deadline)?;
        self.try_read(slices)
    }

    /// Returns true if [`read`](Self::read) is one system call.
    fn reads_asleep(&self) -> bool {
        false
    }

    /// Blocks until reading or writing can make progress or the deadline has passed. May wake up
    /// spuriously.
    fn sleep(&self, interest: Interest, deadline: Deadline) -> io::Result<()> {
        sleep_on([self.source(interest)], deadline)?;
        Ok(())
    }

    /// Ends the sending direction: the peer reads all sent data, and then the end of the stream.
    fn end_sending(&self);

    /// Ends both directions immediately, and wakes all threads that sleep on them.
    fn end(&self);

    /// Ends both directions immediately, such that the peer notices even if its data is not being
    /// read. Data on its way to the peer may be lost.
    fn reset(&self) {
        self.end();
    }

    /// Like [`try_read`](Self::try_read), for discarding unread data before the stream is closed.
    fn try_read_last(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        self.try_read(slices)
    }

    /// Implements [`Incoming::watch`](crate::connection::Incoming::watch) for reading.
    fn watch(&self, _waker: &Waker, _watcher: &Arc<Watcher>) -> io::Result<bool> {
        Ok(false)
    }

    /// Prepares to sleep until reading or writing can make progress.
    fn arm(&self, _interest: Interest, _waker: Option<&Waker>) -> Armed {
        Armed::Source
    }

    /// Returns the descriptor that becomes ready when reading or writing can make progress or the
    /// peer is gone, and the readiness to poll for.
    fn source(&self, interest: Interest) -> (BorrowedFd<'_>, Interest) {
        (self.fd(), interest)
    }

    /// Returns the descriptor that becomes ready when reading or writing can make progress or the
    /// peer is gone.
    fn fd(&self) -> BorrowedFd<'_>;
}

/// The receive timeout that is set on the socket. It is changed only if necessary, so that a
/// connection in steady use makes no system call for it.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// The receive timeout of the socket. `None` means no timeout, which is the initial setting.
    pub(super) told: Option<Duration>,
    /// True if the last call received nothing.
    pub(super) in_vain: bool,
}

/// Receives available bytes to the front of `into`, without blocking. Returns `None` if there are
/// none, and `Some(0)` at the end of the stream.
pub(crate) fn read_some(wire: &dyn Wire, into: &mut [u8]) -> io::Result<Option<usize>> {
    let mut piece = [std::mem::MaybeUninit::uninit(); 64];
    let most = into.len().min(piece.len());
    let mut slices = [MaybeUninitSlice::new(piece.split_at_mut(most).0)];
    let received = wire.try_read(&mut slices)?;
    for (to, from) in into
        .iter_mut()
        .zip(piece.iter().take(received.unwrap_or(0)))
    {
        // SAFETY: the wire has initialised the first bytes of the piece, as many as it reports, and
        // `take` yields no others.
        *to = unsafe { from.assume_init() };
    }
    Ok(received)
}

/// Fills `into`, with as many calls as necessary until the deadline. On failure, the error has the
/// number of bytes received.
pub(super) fn read_exact(
    wire: &dyn Wire,
    into: &mut [u8],
    deadline: Deadline,
) -> Result<(), Short> {
    let mut received = 0usize;
    while let Some(rest) = into.get_mut(received..).filter(|rest| !rest.is_empty()) {
        match read_some(wire, rest) {
            Ok(Some(0)) => return Err(Short::Ended { received }),
            Ok(Some(n)) => received = received.saturating_add(n),
            Ok(None) => sleep(wire, Interest::Readable, received, deadline)?,
            Err(error) => return Err(Short::Broken(error)),
        }
    }
    Ok(())
}

/// Writes all of `bytes`, with as many calls as necessary until the deadline.
pub(super) fn write_all(
    wire: &dyn Wire,
    mut bytes: &[u8],
    deadline: Deadline,
) -> Result<(), Short> {
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

/// The reason why not all bytes were read or written.
#[derive(Debug)]
pub(super) enum Short {
    TimedOut { received: usize },
    Ended { received: usize },
    Broken(io::Error),
}
