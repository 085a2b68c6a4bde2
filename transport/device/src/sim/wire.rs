//! A connection of a simulation, as a byte stream.
//!
//! The unsafe code copies received bytes into memory that may be uninitialised, and upholds the
//! contract of [`Wire`].

use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use socket2::MaybeUninitSlice;

use super::executor::step_beside;
use super::state::PipeSide;
use super::world::ConnectionEnd;
use crate::connection::{Armed, Interest};
use crate::deadline::Deadline;
use crate::stream::Wire;
use crate::stream::assembly::FAREWELL;
use jstream_sync::event_fd::EventFd;
use jstream_sync::parker::Parker;

/// One end of a connection.
pub(super) struct SimWire {
    end: ConnectionEnd,
    reader: Signal,
    writer: Signal,
}

impl SimWire {
    pub(super) fn new(end: ConnectionEnd) -> Self {
        Self {
            end,
            reader: Signal::default(),
            writer: Signal::default(),
        }
    }

    /// Blocks until `side` may continue, the deadline has passed, or a spurious wake-up. In a
    /// simulation, runs other tasks meanwhile, and returns an error if no task and no event can
    /// ever end the wait.
    fn sleep_on(&self, side: PipeSide, deadline: Deadline) -> io::Result<()> {
        let mut timer = false;
        let parker = Parker::of_thread();
        loop {
            if self.end.arm(side, parker.waker()) || deadline.has_passed() {
                return Ok(());
            }
            match step_beside(&self.end.world) {
                Some(true) => {}
                Some(false) => match deadline.left().filter(|_| !timer) {
                    Some(left) => {
                        self.end.world.wake_after(left, None, Waker::noop());
                        timer = true;
                    }
                    None => return Err(ErrorKind::Deadlock.into()),
                },
                None => {
                    parker.park(deadline.left());
                    return Ok(());
                }
            }
        }
    }
}

// SAFETY: `try_read` copies the received bytes to the slices in order, and returns their number.
unsafe impl Wire for SimWire {
    fn try_read(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        let room = slices
            .iter()
            .fold(0usize, |sum, s| sum.saturating_add(s.len()));
        let (mut index, mut offset) = (0usize, 0usize);
        let read = self.end.read(room, |mut piece| {
            while let (false, Some(slice)) = (piece.is_empty(), slices.get_mut(index)) {
                let Some(free) = slice.get_mut(offset..).filter(|free| !free.is_empty()) else {
                    index = index.saturating_add(1);
                    offset = 0;
                    continue;
                };
                let n = free.len().min(piece.len());
                let to = free.as_mut_ptr().cast::<u8>();
                // SAFETY: Both slices have at least `n` bytes, and the destination is borrowed
                // exclusively.
                unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), to, n) };
                offset = offset.saturating_add(n);
                piece = piece.get(n..).unwrap_or_default();
            }
        });
        or_later(read)
    }

    fn try_write(&self, slices: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        // The farewell is always accepted. Otherwise, a background thread would wait for room, and
        // its timing does not depend on the seed.
        let last = matches!(slices, [only] if **only == FAREWELL);
        or_later(self.end.write(slices, last))
    }

    fn sleep(&self, interest: Interest, deadline: Deadline) -> io::Result<()> {
        self.sleep_on(side(interest), deadline)
    }

    fn end_sending(&self) {
        self.end.finish();
    }

    fn end(&self) {
        self.end.end();
    }

    fn arm(&self, interest: Interest, waker: Option<&Waker>) -> Armed {
        let side = side(interest);
        let (ready, armed) = match waker {
            Some(waker) => (self.end.arm(side, waker), Armed::Waker),
            None => {
                let signal = match side {
                    PipeSide::Reader => &self.reader,
                    PipeSide::Writer => &self.writer,
                };
                signal.drain();
                (self.end.arm_signal(side, signal.get()), Armed::Source)
            }
        };
        if ready { Armed::Ready } else { armed }
    }

    fn source(&self, interest: Interest) -> (BorrowedFd<'_>, Interest) {
        let signal = match side(interest) {
            PipeSide::Reader => &self.reader,
            PipeSide::Writer => &self.writer,
        };
        (signal.get().as_fd(), Interest::Readable)
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.reader.get().as_fd()
    }
}

fn side(interest: Interest) -> PipeSide {
    match interest {
        Interest::Readable => PipeSide::Reader,
        Interest::Writable => PipeSide::Writer,
    }
}

fn or_later(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        done => done.map(Some),
    }
}

/// A descriptor for threads that sleep on it, created at first use.
#[derive(Default)]
pub(super) struct Signal(OnceLock<Arc<EventFd>>);

impl Signal {
    /// Returns the descriptor.
    ///
    /// # Panics
    ///
    /// If the system cannot create a descriptor. Tasks of a simulation do not need one.
    pub(super) fn get(&self) -> &Arc<EventFd> {
        self.0.get_or_init(|| {
            let made = EventFd::new();
            Arc::new(made.expect("cannot create an eventfd for a simulated connection"))
        })
    }

    pub(super) fn raise(&self) {
        if let Some(signal) = self.0.get() {
            signal.signal();
        }
    }

    /// Clears earlier signals.
    pub(super) fn drain(&self) {
        if let Some(signal) = self.0.get() {
            signal.clear();
        }
    }
}
