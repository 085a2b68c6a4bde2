//! Standby threads: one of them watches the poller and takes over while a handler runs for a long
//! time.
//!
//! The poller releases the poller lock before a handler runs. Waking another thread each time would
//! cost more than most handlers. So the watching thread samples from time to time while there is
//! work: if the same handler has run since its last sample and no thread polls, it becomes the
//! poller.
//!
//! They sleep on a condition variable. A thread that samples is woken by time, so it is in no list
//! of wakers, and the order of the changes of the poller lock's word takes the place of a barrier.

use std::time::Duration;

use super::poller_lock::PollerLock;
use jstream_sync::{
    AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, wait, wait_for,
};

/// Interval of the samples, and so the minimum run time of a handler before another thread takes
/// over.
const TICK: Duration = Duration::from_millis(1);

/// Number of samples without change after which the watching thread sleeps until it is called.
const QUIET: u32 = if cfg!(loom) { 1 } else { 10 };

/// State of the standby threads.
#[derive(Debug)]
pub(super) struct Standby {
    state: Mutex<StandbyState>,
    /// Signalled when a thread has to check its condition, or to watch.
    changed: Condvar,
    /// Number of releases of the poller lock.
    begun: AtomicUsize,
    /// True while the watching thread sleeps until it is called.
    asleep: AtomicBool,
}

#[derive(Debug, Default)]
struct StandbyState {
    /// Number of standby threads, including the watching one.
    standing: usize,
    watched: bool,
    /// Number of calls of all threads.
    calls: usize,
    /// True if the watching thread was called.
    called: bool,
}

impl Standby {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(StandbyState::default()),
            changed: Condvar::new(),
            begun: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
        }
    }

    /// Releases the poller lock before a handler runs.
    #[inline]
    pub(super) fn leave(&self, role: &PollerLock) {
        self.begin();
        role.leave();
        self.left();
    }

    /// Releases the poller lock when no handler runs afterwards. It does not count as a handler:
    /// the calling thread does not return to serve, so the watching thread must take over even if
    /// this happens at every sample.
    #[inline]
    pub(super) fn leave_look(&self, role: &PollerLock) {
        role.leave();
        self.left();
    }

    /// Counts a release of the poller lock.
    #[inline]
    fn begin(&self) {
        let begun = self.begun.load(Ordering::Relaxed);
        // Only the poller gets here, so the increment need not be atomic.
        self.begun.store(begun.wrapping_add(1), Ordering::Relaxed);
    }

    /// Wakes the watching thread if it sleeps, after the poller lock was released. That thread sets
    /// `asleep` before it checks the lock, and both threads do a read-modify-write of the lock's
    /// word, so one of them sees the other.
    #[inline]
    pub(super) fn left(&self) {
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let mut state = self.lock();
        if self.asleep.swap(false, Ordering::Relaxed) {
            state.called = true;
            self.changed.notify_all();
        }
    }

    /// Wakes all standby threads.
    pub(super) fn call_all(&self) {
        let mut state = self.lock();
        state.calls = state.calls.wrapping_add(1);
        self.asleep.store(false, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Blocks until there may be work: the poller lock is free and its last owner runs a long
    /// handler, or all threads were called. The caller is on standby from then on, also after the
    /// return, until it [goes](Self::go). `stops` gets the number of other standby threads, and
    /// returns true to prevent the wait.
    pub(super) fn stand_by(
        &self,
        role: &PollerLock,
        stands: &mut bool,
        stops: impl FnOnce(usize) -> bool,
    ) {
        let standing = |state: &StandbyState| state.standing.saturating_sub(usize::from(*stands));
        let state = self.lock();
        let (calls, others) = (state.calls, standing(&state));
        drop(state);
        // `stops` may be code of the program, so it is called without the lock. A call from here on
        // is seen below.
        if stops(others) {
            return;
        }
        let mut state = self.lock();
        if state.calls != calls {
            return;
        }
        state.standing = standing(&state).saturating_add(1);
        *stands = true;
        while state.watched {
            state = wait(&self.changed, state);
            if state.calls != calls {
                return;
            }
        }
        state.watched = true;
        let mut quiet = 0u32;
        loop {
            let begun = self.begun.load(Ordering::Relaxed);
            if quiet < QUIET {
                state = wait_for(&self.state, &self.changed, state, TICK);
            } else {
                self.asleep.store(true, Ordering::Relaxed);
                if role.is_free() {
                    self.asleep.store(false, Ordering::Relaxed);
                } else {
                    while !state.called && state.calls == calls {
                        state = wait(&self.changed, state);
                    }
                }
                state.called = false;
                quiet = 0;
            }
            if state.calls != calls {
                break;
            }
            if self.begun.load(Ordering::Relaxed) != begun {
                quiet = 0;
            } else if role.is_free() {
                break;
            } else {
                quiet = quiet.saturating_add(1);
            }
        }
        state.watched = false;
        self.asleep.store(false, Ordering::Relaxed);
        drop(state);
        // Another standby thread watches while this one polls.
        self.changed.notify_all();
    }

    /// Ends the standby of a thread that polls or ends. Returns true if no standby thread is left.
    pub(super) fn go(&self) -> bool {
        let mut state = self.lock();
        state.standing = state.standing.saturating_sub(1);
        state.standing == 0
    }

    fn lock(&self) -> MutexGuard<'_, StandbyState> {
        lock(&self.state)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The watching thread takes the lock from a thread that released it without running a handler.
    /// Otherwise a thread that looks at every sample would prevent it forever.
    #[test]
    fn a_look_is_not_taken_for_a_handler() {
        let (watch, role) = (Standby::new(), PollerLock::new());
        let begun = || watch.begun.load(Ordering::Relaxed);
        assert!(role.take(1));
        watch.leave(&role);
        assert_eq!(begun(), 1);
        assert!(role.take(1));
        watch.leave_look(&role);
        assert_eq!(begun(), 1);
        assert!(role.is_free());
    }
}
