//! The ring of a thread through which it sends buffers without copying them.
//!
//! Decision 043 has the reasons.

use std::cell::OnceCell;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use jstream::buffer::{MessageBuffer, Pool};
use libc::{MSG_DONTWAIT, MSG_NOSIGNAL};
use rustix::io::Errno;

use super::super::system::{self, enter};
use super::loans::{Account, Loans, MOST};
use super::regions::Regions;
use crate::stream::lent::Lent;
use jstream_sync::callbacks::DeferringGuard;
use jstream_sync::lock;

/// Flags of a send that does not block, so that its result is known when the call returns. Sending
/// to a peer that is gone must be an error, not a signal that terminates the program.
const SEND: c_int = MSG_DONTWAIT | MSG_NOSIGNAL;

/// Requests that the kernel reports for each loan if it has copied the data
/// (`IORING_SEND_ZC_REPORT_USAGE`).
const REPORT_USAGE: u16 = 8;

/// Maximum number of bytes of one loan. Outstanding loans count against the limit of locked memory,
/// and the send buffer of a socket is not much larger.
const PIECE: usize = 1 << 20;

/// Maximum number of attempts to get the result of a send, which is usually available immediately.
const ASKED: u32 = 100;

thread_local! {
    static LENDER: Mine = const { Mine(OnceCell::new()) };
}

/// Lenders of ended threads and closed connections, from whose buffers the kernel still reads.
static ORPHANS: Mutex<Vec<Arc<Lender>>> = Mutex::new(Vec::new());

/// The lender of a thread.
struct Mine(OnceCell<Arc<Lender>>);

impl Drop for Mine {
    fn drop(&mut self) {
        if let Some(lender) = self.0.take() {
            lender.release();
        }
        sweep();
    }
}

/// The result of sending.
pub(super) enum LendOutcome {
    Bytes(usize),
    /// The socket's send buffer is full.
    Full,
    /// No loan is possible now.
    Busy,
    /// No loan is possible to this peer or on this kernel.
    Refused(Errno),
    /// The connection failed.
    Failed(Errno),
}

/// A ring that sends buffers without copying them.
///
/// Only its thread sends through it. Any thread may check which buffers the kernel has released.
/// The lock is an inner lock: no code of the program runs while it is held.
///
/// Invariant: the kernel gets no memory except that of buffers in `loans`, which are kept until the
/// kernel reports that it does not read them any more.
pub(super) struct Lender {
    uring: IoUring,
    state: Mutex<LenderState>,
}

struct LenderState {
    loans: Loans,
    regions: Regions,
    /// Empty `Lent` handles of returned buffers, for reuse.
    spare: Vec<Lent>,
    /// True if the kernel did not report the result of an operation. No more operations are
    /// submitted then.
    spoiled: bool,
}

/// The locked state of a lender. While the guard exists, the program is not called.
type LenderGuard<'l> = DeferringGuard<MutexGuard<'l, LenderState>>;

impl Lender {
    /// Returns the lender of this thread, which is created by the first call.
    ///
    /// # Errors
    ///
    /// The kernel refuses a ring, or the thread is about to end.
    pub(super) fn of_thread() -> io::Result<Arc<Self>> {
        let made = LENDER.try_with(|mine| {
            if let Some(lender) = mine.0.get() {
                return Ok(lender.clone());
            }
            let lender = Self::new()?;
            Ok(mine.0.get_or_init(|| lender).clone())
        });
        made.unwrap_or_else(|_| Err(io::Error::other("the thread is ending")))
    }

    fn new() -> io::Result<Arc<Self>> {
        sweep();
        let uring = system::ring(false)?;
        let regions = Regions::new(&uring);
        Ok(Arc::new(Self {
            uring,
            state: Mutex::new(LenderState {
                loans: Loans::new(),
                regions,
                spare: Vec::with_capacity(MOST),
                spoiled: false,
            }),
        }))
    }

    /// Returns the reason why regions can't be registered with the kernel, if they can't.
    pub(super) fn unregistered(&self) -> Option<String> {
        self.state().regions.refused().map(ToString::to_string)
    }

    /// Prepares a buffer that is about to be sent.
    pub(super) fn begin(&self, jbuf: MessageBuffer) -> Lent {
        match self.state().spare.pop() {
            Some(mut spare) => match spare.fill(jbuf) {
                Ok(()) => spare,
                Err(jbuf) => Lent::new(jbuf),
            },
            None => Lent::new(jbuf),
        }
    }

    /// Ends the sending of a buffer.
    pub(super) fn end(&self, mut lent: Lent) {
        // A buffer with outstanding loans is returned when the kernel has released it.
        if let Some(jbuf) = lent.take_buffer() {
            drop(jbuf);
            let mut state = self.state();
            if state.spare.len() < MOST {
                state.spare.push(lent);
            }
        }
    }

    /// Sends as many bytes of a buffer from an offset on as is possible without blocking.
    pub(super) fn send(
        &self,
        socket: BorrowedFd<'_>,
        from: (&Lent, usize),
        account: &Arc<Account>,
        pool: &Pool,
    ) -> io::Result<LendOutcome> {
        let mut state = self.state();
        let sent = self.send_locked(&mut state, socket, from, account, pool);
        if sent.is_err() {
            state.spoiled = true;
        }
        self.leave_state(state);
        sent
    }

    fn send_locked(
        &self,
        state: &mut LenderState,
        socket: BorrowedFd<'_>,
        (lent, from): (&Lent, usize),
        account: &Arc<Account>,
        pool: &Pool,
    ) -> io::Result<LendOutcome> {
        self.process_completions(state);
        let none_out = state.loans.is_empty();
        let Some(jbuf) = lent.jbuf().filter(|_| !state.spoiled) else {
            return Ok(LendOutcome::Busy);
        };
        let rest = jbuf.as_bytes().get(from..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest);
        let Ok(length) = u32::try_from(piece.len()) else {
            return Ok(LendOutcome::Busy);
        };
        let known = state.regions.number(&self.uring, jbuf, pool);
        let Some(number) = state.loans.begin(lent.clone(), account.clone()) else {
            return Ok(LendOutcome::Busy);
        };
        let send = opcode::SendZc::new(Fd(socket.as_raw_fd()), piece.as_ptr(), length)
            .flags(SEND)
            .zc_flags(REPORT_USAGE)
            .buf_index(known)
            .build()
            .user_data(number as u64);
        {
            // SAFETY: the exclusive access to the state is also that to the queue, and the queue is
            // dropped before the state is released.
            let mut queue = unsafe { self.uring.submission_shared() };
            // SAFETY: the piece is memory of the buffer of the loan that was just begun, which
            // stays in place and unchanged until the kernel has released it. If `known` is a
            // number, the piece is in the region that is registered under this number.
            unsafe { queue.push(&send) }.map_err(|_| Errno::BUSY)?;
        }
        for asked in 0..ASKED {
            self.call(asked.min(1))?;
            self.process_completions(state);
            if let Some(result) = state.loans.result(number) {
                return Ok(sent(result, none_out));
            }
        }
        Err(io::Error::other("io_uring reported no result of a send"))
    }

    /// Submits queued operations, and blocks until `want` operations have completed.
    fn call(&self, want: u32) -> io::Result<()> {
        // SAFETY: as in `send_locked`, which is the only caller.
        let submissions = unsafe { self.uring.submission_shared() }.len();
        enter(&self.uring, submissions, want, None)
    }

    /// Processes completions.
    fn process_completions(&self, state: &mut LenderState) {
        // SAFETY: as in `send_locked`.
        let queue = unsafe { self.uring.completion_shared() };
        for entry in queue {
            let (number, result) = (entry.user_data(), entry.result());
            state.loans.complete(number, result, entry.flags());
        }
    }

    /// Checks which buffers the kernel has released, unless another thread holds the lock.
    pub(super) fn look_if_free(&self) {
        let state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let mut state = LenderGuard::new(state);
        self.process_completions(&mut state);
        self.leave_state(state);
    }

    /// Returns true if the kernel may still read a buffer.
    pub(super) fn has_some_out(&self) -> bool {
        !self.state().loans.is_empty()
    }

    /// Releases the lock, and returns released buffers to their pools.
    fn leave_state<'l>(&'l self, mut state: LenderGuard<'l>) {
        while let Some(lent) = state.loans.back.pop() {
            drop(state);
            self.end(lent);
            state = self.state();
        }
    }

    /// Drops the reference of a connection or of the lender's thread. A lender with outstanding
    /// loans becomes an orphan.
    pub(super) fn release(self: Arc<Self>) {
        self.look_if_free();
        let mut state = self.state();
        // The last two references are `self` and that of the thread.
        if Arc::strong_count(&self) <= 2 {
            let LenderState { regions, .. } = &mut *state;
            regions.forget(&self.uring);
        }
        drop(state);
        if self.has_some_out() {
            let mut orphans = orphans();
            if !orphans.iter().any(|orphan| Arc::ptr_eq(orphan, &self)) {
                orphans.push(self);
            }
        }
    }

    /// Locks the state.
    fn state(&self) -> LenderGuard<'_> {
        LenderGuard::new(lock(&self.state))
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        // Usually no loan is outstanding here: a lender with outstanding loans is an orphan when
        // its last user leaves it, and an orphan is dropped once it has none.
        self.state().loans.leak();
    }
}

/// Returns the buffers of orphans that the kernel has released to their pools, and drops orphans
/// without outstanding loans.
pub(super) fn sweep() {
    let mut all = std::mem::take(&mut *orphans());
    if all.is_empty() {
        return;
    }
    all.retain(|orphan| {
        orphan.look_if_free();
        orphan.has_some_out()
    });
    orphans().append(&mut all);
}

fn orphans() -> MutexGuard<'static, Vec<Arc<Lender>>> {
    lock(&ORPHANS)
}

/// Interprets the result of a send. `none_out` is true if no other loan was outstanding.
fn sent(result: i32, none_out: bool) -> LendOutcome {
    if let Ok(n) = usize::try_from(result) {
        return LendOutcome::Bytes(n);
    }
    match Errno::from_raw_os_error(result.saturating_neg()) {
        Errno::AGAIN => LendOutcome::Full,
        Errno::INTR => LendOutcome::Busy,
        // The limit of locked memory was reached, which counts outstanding loans.
        Errno::NOMEM | Errno::NOBUFS if !none_out => LendOutcome::Busy,
        errno @ (Errno::NOMEM | Errno::NOBUFS) => LendOutcome::Refused(errno),
        errno if is_refusal(errno) => LendOutcome::Refused(errno),
        errno => LendOutcome::Failed(errno),
    }
}

/// Returns true if the kernel does not support zero-copy sends, at all or for this socket.
fn is_refusal(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM)
}
