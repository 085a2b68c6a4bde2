//! A ring for each thread, by which it sends from jbufs that the system reads later.

use std::cell::OnceCell;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use jstream::buffer::{Filled, Pool};
use libc::{MSG_DONTWAIT, MSG_NOSIGNAL};
use rustix::io::Errno;

use super::super::system::{self, enter};
use super::is_refusal;
use super::loans::{Account, Loans, MOST};
use super::regions::Regions;
use crate::device::stream::lent::Lent;

/// An operation that never waits, so that its outcome is known when the call returns. Sending to a peer that
/// is gone must be an error, not a signal that ends the program.
const SEND: c_int = MSG_DONTWAIT | MSG_NOSIGNAL;

/// The system says of each loan whether it has copied it after all (`IORING_SEND_ZC_REPORT_USAGE`).
const REPORT_USAGE: u16 = 8;

/// How much is lent at once, at most, in bytes: what is lent counts against the limit of locked memory for as
/// long as it is out, and a socket has not room for much more.
const PIECE: usize = 1 << 20;

/// How often the system is asked for what an operation came to, that is known at once.
const ASKED: u32 = 100;

thread_local! {
    static LENDER: Mine = const { Mine(OnceCell::new()) };
}

/// Those of threads that have ended, and connections that are gone, of whose jbufs the system still reads.
static ORPHANS: Mutex<Vec<Arc<Lender>>> = Mutex::new(Vec::new());

/// That of a thread.
struct Mine(OnceCell<Arc<Lender>>);

impl Drop for Mine {
    fn drop(&mut self) {
        if let Some(lender) = self.0.take() {
            lender.leave();
        }
        sweep();
    }
}

/// What came of sending.
pub(super) enum Sent {
    Bytes(usize),
    /// The socket has no room.
    Full,
    /// Nothing can be lent now.
    Busy,
    /// Nothing can be lent to this peer, or by this system.
    Refused(Errno),
    /// The connection is broken.
    Failed(Errno),
}

/// A ring that sends jbufs from where they are.
///
/// Only its thread sends by it; anybody may look what the system has let go of. The lock is an inner one:
/// nothing of the program runs under it.
///
/// Invariant: the system is given no memory but that of jbufs in `loans`, which is kept until it says that it
/// reads them no more.
pub(super) struct Lender {
    uring: IoUring,
    state: Mutex<State>,
}

struct State {
    loans: Loans,
    regions: Regions,
    /// Shells of jbufs that went back, to be used again.
    spare: Vec<Lent>,
    /// The system did not say what an operation came to: it is told nothing more.
    spoiled: bool,
}

impl Lender {
    /// That of this thread, which is made when it is first asked for.
    ///
    /// # Errors
    ///
    /// Why there can't be one: the system says so, or the thread is about to end.
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
            state: Mutex::new(State {
                loans: Loans::new(),
                regions,
                spare: Vec::with_capacity(MOST),
                spoiled: false,
            }),
        }))
    }

    /// Why the system does not know the memory of jbufs beforehand.
    pub(super) fn unregistered(&self) -> Option<String> {
        self.state().regions.refused().map(ToString::to_string)
    }

    /// A jbuf that is about to be sent.
    pub(super) fn begin(&self, jbuf: Filled) -> Lent {
        match self.state().spare.pop() {
            Some(mut spare) => match spare.fill(jbuf) {
                Ok(()) => spare,
                Err(jbuf) => Lent::new(jbuf),
            },
            None => Lent::new(jbuf),
        }
    }

    /// Nothing more is sent of a jbuf.
    pub(super) fn end(&self, mut lent: Lent) {
        // What is out goes back when the system lets go of it.
        if let Some(jbuf) = lent.take() {
            drop(jbuf);
            let mut state = self.state();
            if state.spare.len() < MOST {
                state.spare.push(lent);
            }
        }
    }

    /// Sends what fits now of a jbuf from a place on.
    pub(super) fn send(
        &self,
        socket: BorrowedFd<'_>,
        from: (&Lent, usize),
        account: &Arc<Account>,
        pool: &Pool,
    ) -> io::Result<Sent> {
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
        state: &mut State,
        socket: BorrowedFd<'_>,
        (lent, from): (&Lent, usize),
        account: &Arc<Account>,
        pool: &Pool,
    ) -> io::Result<Sent> {
        self.look(state);
        let none_out = state.loans.is_empty();
        let Some(jbuf) = lent.jbuf().filter(|_| !state.spoiled) else {
            return Ok(Sent::Busy);
        };
        let rest = jbuf.as_bytes().get(from..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest);
        let Ok(length) = u32::try_from(piece.len()) else {
            return Ok(Sent::Busy);
        };
        let known = state.regions.number(&self.uring, jbuf, pool);
        let Some(number) = state.loans.begin(lent.clone(), account.clone()) else {
            return Ok(Sent::Busy);
        };
        let send = opcode::SendZc::new(Fd(socket.as_raw_fd()), piece.as_ptr(), length)
            .flags(SEND)
            .zc_flags(REPORT_USAGE)
            .buf_index(known)
            .build()
            .user_data(number as u64);
        {
            // SAFETY: whoever has the state has the queue too, and drops it before another asks.
            let mut queue = unsafe { self.uring.submission_shared() };
            // SAFETY: the piece is of the jbuf of the loan just begun, which stays as it is until the system
            // has let go of it; if it was registered, it lies in the region of that number.
            unsafe { queue.push(&send) }.map_err(|_| Errno::BUSY)?;
        }
        for asked in 0..ASKED {
            self.call(asked.min(1))?;
            self.look(state);
            if let Some(result) = state.loans.result(number) {
                return Ok(sent(result, none_out));
            }
        }
        Err(io::Error::other("io_uring does not say what it has sent"))
    }

    /// Submits what there is, and waits for so much to be completed.
    fn call(&self, want: u32) -> io::Result<()> {
        // SAFETY: as in `send_locked`, which alone calls this.
        let submissions = unsafe { self.uring.submission_shared() }.len();
        enter(&self.uring, submissions, want, None)
    }

    /// Notes what the system says.
    fn look(&self, state: &mut State) {
        // SAFETY: as in `send_locked`.
        let queue = unsafe { self.uring.completion_shared() };
        for entry in queue {
            let (number, result) = (entry.user_data(), entry.result());
            state.loans.note(number, result, entry.flags());
        }
    }

    /// Sees what the system has let go of, unless somebody else is at it.
    pub(super) fn look_if_free(&self) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.look(&mut state);
        self.leave_state(state);
    }

    /// Whether the system may still read something.
    pub(super) fn has_some_out(&self) -> bool {
        !self.state().loans.is_empty()
    }

    /// Releases the lock, and gives back what came back.
    fn leave_state<'l>(&'l self, mut state: MutexGuard<'l, State>) {
        while let Some(lent) = state.loans.back.pop() {
            drop(state);
            self.end(lent);
            state = self.state();
        }
    }

    /// A connection, or its thread, has no more to do with it.
    pub(super) fn leave(self: Arc<Self>) {
        self.look_if_free();
        let mut state = self.state();
        // One is here, the other the thread's.
        if Arc::strong_count(&self) <= 2 {
            let State { regions, .. } = &mut *state;
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

    /// A panic elsewhere can't leave it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        // Whoever left it last found it free, or made it an orphan, which is dropped when it is free.
        self.state().loans.leak();
    }
}

/// Gives back what the system has let go of since.
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
    ORPHANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an operation came to, which was alone with the system or not.
fn sent(result: i32, none_out: bool) -> Sent {
    if let Ok(n) = usize::try_from(result) {
        return Sent::Bytes(n);
    }
    match Errno::from_raw_os_error(result.saturating_neg()) {
        Errno::AGAIN => Sent::Full,
        Errno::INTR => Sent::Busy,
        // The limit of locked memory, which counts what is out.
        Errno::NOMEM | Errno::NOBUFS if !none_out => Sent::Busy,
        errno @ (Errno::NOMEM | Errno::NOBUFS) => Sent::Refused(errno),
        errno if is_refusal(errno) => Sent::Refused(errno),
        errno => Sent::Failed(errno),
    }
}
