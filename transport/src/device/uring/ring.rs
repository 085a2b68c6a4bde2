//! One ring, by which one socket is received from.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, Probe, cqueue, opcode, squeue};
use rustix::io::Errno;
use socket2::MaybeUninitSlice;

use super::buffers::{Buffers, COUNT, GROUP, SIZE};
use crate::device::deadline::Deadline;

/// Room for what is submitted at once: a receive, a poll and two cancellations.
const SUBMISSIONS: u32 = 4;
/// Room for what is completed and not looked at: a buffer each, and the end of each operation.
const COMPLETIONS: u32 = 16;

/// What stands with an operation, and comes back with what became of it.
const RECEIVE: u64 = 1;
const POLL: u64 = 2;
const CANCEL: u64 = 3;

/// How long whoever drops a ring waits for the system to let go of its buffers.
const LET_GO: Duration = Duration::from_secs(2);
/// After how long it asks again.
const AGAIN: Duration = Duration::from_millis(50);

thread_local! {
    static HERE: ThreadId = thread::current().id();
}

fn here() -> ThreadId {
    HERE.with(|id| *id)
}

/// Who may drive a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Issuer {
    /// One thread after the other.
    Any,
    /// Only the first thread that does: its calls are the only ones in which anything happens.
    First,
}

/// A ring that receives from one socket into buffers of its own.
///
/// A receive that is submitted once goes on for ever: each piece that comes fills one of the
/// buffers, until none is free. The system works at that only in calls of the thread that
/// submitted it, and says in shared memory when there is something to do, so that looking whether
/// something has come costs no call.
///
/// Invariant: the system is given no memory but that of [`Buffers`].
pub(super) struct Ring {
    uring: IoUring,
    issuer: Issuer,
    socket: RawFd,
    state: Mutex<State>,
}

struct State {
    buffers: Buffers,
    /// The buffers that were filled and are not used up, the oldest first; at most `COUNT`.
    arrived: VecDeque<Piece>,
    /// What the stream ended with: `None` while it goes on.
    end: Option<End>,
    /// The receive is with the system.
    receiving: bool,
    /// A poll of the socket is with the system.
    polling: bool,
    /// The receive was asked to end.
    cancelled: bool,
    /// The thread that submitted the receive, or the only one that may.
    driver: Option<ThreadId>,
}

struct Piece {
    buffer: u16,
    used: usize,
    length: usize,
}

/// What was taken from a ring that is to rest.
pub(super) enum Taken {
    /// So many bytes; none at the stream's end.
    Bytes(usize),
    /// Nothing, and something may still come.
    Soon,
    /// Nothing, and nothing comes until the receive is begun again.
    Never,
}

#[derive(Debug, Clone, Copy)]
enum End {
    /// Of the stream.
    Stream,
    Failed(Errno),
}

impl Ring {
    /// A ring for `socket`, which has to be non-blocking or not, and open as long as the ring is
    /// used.
    pub(super) fn new(socket: BorrowedFd<'_>, issuer: Issuer) -> io::Result<Self> {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(COMPLETIONS).setup_taskrun_flag();
        match issuer {
            Issuer::Any => builder.setup_coop_taskrun(),
            // Whoever enables it is its issuer.
            Issuer::First => builder
                .setup_single_issuer()
                .setup_defer_taskrun()
                .setup_r_disabled(),
        };
        let uring = builder.build(SUBMISSIONS)?;
        check(&uring)?;
        let mut buffers = Buffers::new()?;
        // SAFETY: dropping the ring ends the receive, or leaks the buffers.
        unsafe { buffers.register(&uring) }?;
        let state = State {
            buffers,
            arrived: VecDeque::with_capacity(usize::from(COUNT)),
            end: None,
            receiving: false,
            polling: false,
            cancelled: false,
            driver: None,
        };
        Ok(Self {
            uring,
            issuer,
            socket: socket.as_raw_fd(),
            state: Mutex::new(state),
        })
    }

    /// Why the buffers may be swapped out.
    pub(super) fn unlocked(&self) -> Option<String> {
        let state = self.state();
        state.buffers.refused().map(ToString::to_string)
    }

    /// Copies what has come to `slices`, and sees to it that more can come: `None` when nothing
    /// has, `Some(0)` at the stream's end.
    ///
    /// Where it says `Some(n)`, the first `n` bytes of `slices` are initialised, one slice after
    /// the other.
    pub(super) fn take(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        let state = &mut *self.state();
        if state.arrived.is_empty() {
            self.drive(state, true)?;
        }
        state.take(slices)
    }

    /// Sleeps until something has come or the deadline has passed, and then does as
    /// [`take`](Self::take).
    pub(super) fn wait(
        &self,
        slices: &mut [MaybeUninitSlice<'_>],
        deadline: Deadline,
    ) -> io::Result<Option<usize>> {
        let state = &mut *self.state();
        if state.arrived.is_empty() {
            self.drive(state, true)?;
        }
        if state.arrived.is_empty() && state.end.is_none() {
            self.sleep(state, deadline)?;
        }
        state.take(slices)
    }

    /// Ends the receive, and copies what it has received to `slices`.
    pub(super) fn take_last(&self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Taken> {
        let state = &mut *self.state();
        if state.arrived.is_empty() && state.receiving {
            self.reap(state)?;
            if state.arrived.is_empty() && state.receiving {
                self.cancel(state)?;
            }
        }
        Ok(match state.take(slices)? {
            Some(n) => Taken::Bytes(n),
            None if state.receiving => Taken::Soon,
            None => Taken::Never,
        })
    }

    /// Sees to it that the ring becomes readable when the socket does, or something is received.
    /// Whether there is something now.
    pub(super) fn arm(&self, receive: bool) -> io::Result<bool> {
        let state = &mut *self.state();
        self.drive(state, receive)?;
        let watched = self.issuer == Issuer::First;
        if !watched && !receive && !state.receiving && !state.polling && state.end.is_none() {
            // POLLIN
            let poll = opcode::PollAdd::new(Fd(self.socket), 1).build();
            self.submit(state, poll.user_data(POLL))?;
            state.polling = true;
            self.enter(state)?;
            if !state.polling {
                return Ok(true);
            }
        }
        Ok(!state.arrived.is_empty() || state.end.is_some())
    }

    pub(super) fn issuer(&self) -> Issuer {
        self.issuer
    }

    /// Becomes readable when something is completed, unless there is a single issuer.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.uring.as_fd()
    }

    /// A panic elsewhere can't leave it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what was completed, and keeps the receive going.
    fn drive(&self, state: &mut State, go_on: bool) -> io::Result<()> {
        self.reap(state)?;
        if !state.arrived.is_empty() || state.end.is_some() {
            return Ok(());
        }
        if state.receiving {
            // Else each piece would disturb the thread that was here before, and wait for it.
            if self.issuer == Issuer::Any && state.driver != Some(here()) && !state.cancelled {
                self.cancel(state)?;
            }
            // What has ended at once is begun again: nothing else would tell of what comes.
            if state.receiving || !state.arrived.is_empty() || state.end.is_some() {
                return Ok(());
            }
        }
        if go_on {
            let receive = opcode::RecvMulti::new(Fd(self.socket), GROUP).build();
            self.submit(state, receive.user_data(RECEIVE))?;
            state.receiving = true;
            state.cancelled = false;
            state.driver = Some(here());
            self.enter(state)?;
        }
        Ok(())
    }

    /// Makes this thread the one that may drive the ring, or says that it may not.
    fn bind(&self, state: &mut State) -> io::Result<()> {
        if self.issuer == Issuer::Any {
            return Ok(());
        }
        match state.driver {
            Some(driver) if driver == here() => Ok(()),
            Some(driver) => Err(io::Error::other(format!(
                "with a single issuer, this direction is driven by {driver:?} alone"
            ))),
            None => {
                self.uring.submitter().register_enable_rings()?;
                state.driver = Some(here());
                Ok(())
            }
        }
    }

    /// Puts an operation where the next call to the system takes it from.
    fn submit(&self, _: &mut State, operation: squeue::Entry) -> io::Result<()> {
        // SAFETY: whoever has the state has the queue too, and drops it before another asks.
        let mut queue = unsafe { self.uring.submission_shared() };
        // SAFETY: the operations of a ring read no memory, and a receive writes to buffers that
        // stay until it has ended.
        unsafe { queue.push(&operation) }.map_err(|_| Errno::BUSY.into())
    }

    fn cancel(&self, state: &mut State) -> io::Result<()> {
        if !state.cancelled {
            let cancel = opcode::AsyncCancel::new(RECEIVE).build();
            self.submit(state, cancel.user_data(CANCEL))?;
            state.cancelled = true;
        }
        self.enter(state)
    }

    /// Submits what there is, lets the system do what it has to, and looks at what was completed.
    fn enter(&self, state: &mut State) -> io::Result<()> {
        self.call(0, None)?;
        self.look(state)
    }

    /// As [`enter`](Self::enter), without a call when there is nothing to do for the system.
    fn reap(&self, state: &mut State) -> io::Result<()> {
        self.bind(state)?;
        self.look(state)?;
        if state.arrived.is_empty() && state.end.is_none() {
            // SAFETY: as in `submit`.
            let queue = unsafe { self.uring.submission_shared() };
            let idle = !queue.taskrun() && queue.is_empty() && !queue.cq_overflow();
            drop(queue);
            if !idle {
                self.enter(state)?;
            }
        }
        Ok(())
    }

    /// Sleeps until something is completed, and looks at it.
    fn sleep(&self, state: &mut State, deadline: Deadline) -> io::Result<()> {
        let timeout = deadline.left().map(Timespec::from);
        self.call(1, timeout.as_ref())?;
        self.look(state)
    }

    fn call(&self, want: u32, timeout: Option<&Timespec>) -> io::Result<()> {
        // SAFETY: as in `submit`, for `State` is borrowed by whoever calls this.
        let submissions = unsafe { self.uring.submission_shared() }.len();
        let submissions = u32::try_from(submissions).unwrap_or(0);
        let submitter = self.uring.submitter();
        let called = match timeout {
            Some(timeout) => {
                let args = SubmitArgs::new().timespec(timeout);
                let flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG;
                // SAFETY: the flags say that the argument is of this type.
                unsafe { submitter.enter(submissions, want, flags.bits(), Some(&args)) }
            }
            // SAFETY: without an argument, its type says nothing.
            None => unsafe {
                submitter.enter::<()>(submissions, want, EnterFlags::GETEVENTS.bits(), None)
            },
        };
        match called.map_err(|error| Errno::from_io_error(&error).ok_or(error)) {
            // A time-out, a signal; no memory for now, which may be another time.
            Ok(_) | Err(Ok(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY)) => Ok(()),
            Err(Ok(errno)) => Err(errno.into()),
            Err(Err(error)) => Err(error),
        }
    }

    /// Notes what was completed.
    fn look(&self, state: &mut State) -> io::Result<()> {
        // SAFETY: as in `submit`.
        let queue = unsafe { self.uring.completion_shared() };
        for entry in queue {
            state.note(entry.user_data(), entry.result(), entry.flags())?;
        }
        Ok(())
    }
}

/// Whether the system has all that is needed here.
fn check(uring: &IoUring) -> io::Result<()> {
    static CHECKED: OnceLock<()> = OnceLock::new();

    if CHECKED.get().is_some() {
        return Ok(());
    }
    let mut probe = Probe::new();
    uring.submitter().register_probe(&mut probe)?;
    let operations = [
        opcode::RecvMulti::CODE,
        opcode::PollAdd::CODE,
        opcode::AsyncCancel::CODE,
        // Came together with receives that go on, which can't be asked for.
        opcode::SendZc::CODE,
    ];
    let known = operations.iter().all(|code| probe.is_supported(*code));
    if !known || !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it needs Linux 6.0, or 6.1 for a single issuer",
        ));
    }
    let _ = CHECKED.set(());
    Ok(())
}

impl Drop for Ring {
    fn drop(&mut self) {
        let state = &mut *self.state();
        if !self.let_go(state).unwrap_or(false) {
            state.buffers.leak();
        }
    }
}

impl Ring {
    /// Ends the receive for good. Whether it has ended, so that the system writes to no buffer any
    /// more.
    fn let_go(&self, state: &mut State) -> io::Result<bool> {
        let deadline = Deadline::after(LET_GO);
        while state.receiving {
            let another = self.issuer == Issuer::First && state.driver != Some(here());
            if another || deadline.has_passed() {
                return Ok(false);
            }
            self.cancel(state)?;
            if state.receiving {
                self.sleep(state, deadline.or_sooner(Deadline::after(AGAIN)))?;
            }
        }
        Ok(true)
    }
}

impl State {
    /// Notes what became of an operation.
    fn note(&mut self, operation: u64, result: i32, flags: u32) -> io::Result<()> {
        match operation {
            RECEIVE => self.received(result, flags)?,
            POLL => self.polling = false,
            // It came too late, or too early: it may be tried once more.
            _ if result < 0 => self.cancelled = false,
            _ => {}
        }
        Ok(())
    }

    fn received(&mut self, result: i32, flags: u32) -> io::Result<()> {
        if !cqueue::more(flags) {
            self.receiving = false;
        }
        if let Ok(length @ 1..) = usize::try_from(result) {
            let buffer = cqueue::buffer_select(flags).filter(|buffer| *buffer < COUNT);
            let Some(buffer) = buffer.filter(|_| length <= SIZE) else {
                return Err(io::Error::other(
                    "the ring received into no buffer of its own",
                ));
            };
            self.arrived.push_back(Piece {
                buffer,
                used: 0,
                length,
            });
            return Ok(());
        }
        if result == 0 {
            self.end = Some(End::Stream);
            return Ok(());
        }
        match Errno::from_raw_os_error(result.saturating_neg()) {
            // All buffers are full, or the thread that submitted it has ended, or it was cancelled:
            // it goes on when it is submitted again.
            Errno::NOBUFS | Errno::CANCELED | Errno::INTR | Errno::AGAIN | Errno::NOMEM => {}
            errno => self.end = Some(End::Failed(errno)),
        }
        Ok(())
    }

    /// Copies what was received to `slices`.
    fn take(&mut self, slices: &mut [MaybeUninitSlice<'_>]) -> io::Result<Option<usize>> {
        let mut taken = 0usize;
        for slice in slices {
            let mut rest = &mut **slice;
            while let Some(piece) = self.arrived.front_mut().filter(|_| !rest.is_empty()) {
                // SAFETY: the system has filled this buffer with so many bytes, and it is free only
                // when it is no longer in `arrived`.
                let bytes = unsafe { self.buffers.filled(piece.buffer, piece.length) };
                let bytes = bytes.get(piece.used..).unwrap_or_default();
                let count = bytes.len().min(rest.len());
                let (to, behind) = rest.split_at_mut(count);
                let from = bytes.as_ptr().cast();
                // SAFETY: both have `count` bytes, and a buffer of the ring is none of the program.
                unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), count) };
                rest = behind;
                taken = taken.saturating_add(count);
                piece.used = piece.used.saturating_add(count);
                if piece.used >= piece.length {
                    let buffer = piece.buffer;
                    self.arrived.pop_front();
                    self.buffers.free(buffer);
                }
            }
        }
        match self.end {
            _ if taken > 0 => Ok(Some(taken)),
            Some(End::Stream) => Ok(Some(0)),
            Some(End::Failed(errno)) => Err(errno.into()),
            None => Ok(None),
        }
    }
}
