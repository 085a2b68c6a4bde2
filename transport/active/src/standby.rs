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
//!
//! Decision 007 has the reasons.

use std::time::Duration;

use super::poller_lock::PollerLock;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};
use jstream_sync::{AtomicUsize, Condvar, Ordering};

/// Interval of the samples, and so the minimum run time of a handler before another thread takes
/// over.
const TICK: Duration = Duration::from_millis(1);

/// Number of samples without change after which the watching thread sleeps until it is called.
const QUIET: u32 = if cfg!(loom) { 1 } else { 10 };

/// State of the standby threads.
#[derive(Debug)]
pub(super) struct Standby {
    /// The summary is true while the watching thread sleeps until it is called. The condition
    /// variable is signalled when a thread has to check its condition, or to standby.
    state: PublishingLock<StandbyState>,
    /// Number of releases of the poller lock.
    begun: AtomicUsize,
}

#[derive(Debug, Default)]
struct StandbyState {
    /// Number of standby threads, including the watching one.
    standing: usize,
    is_watched: bool,
    /// True while the watching thread sleeps until it is called.
    is_asleep: bool,
    /// Number of calls of all threads.
    calls: usize,
    /// True if the watching thread was called.
    is_called: bool,
    /// True if the sleeping threads have to check their conditions.
    has_changed: bool,
}

impl Publish for StandbyState {
    type Summary = Word<bool>;
    type Listeners = Condvar;

    fn summary(&self) -> bool {
        self.is_asleep
    }

    fn is_quiet(&mut self, _: &Condvar) -> bool {
        !self.has_changed
    }

    fn notify(&mut self, changed: &Condvar, _: bool) {
        if std::mem::take(&mut self.has_changed) {
            changed.notify_all();
        }
    }
}

impl Standby {
    pub(super) fn new() -> Self {
        Self {
            state: PublishingLock::new(StandbyState::default(), Condvar::new()),
            begun: AtomicUsize::new(0),
        }
    }

    /// Releases the poller lock before a handler runs.
    #[inline]
    pub(super) fn release(&self, poller_lock: &PollerLock) {
        self.count_release();
        poller_lock.release();
        self.wake_watcher();
    }

    /// Releases the poller lock when no handler runs afterwards. It does not count as a handler:
    /// the calling thread does not return to serve, so the watching thread must take over even if
    /// this happens at every sample.
    #[inline]
    pub(super) fn release_after_poll(&self, poller_lock: &PollerLock) {
        poller_lock.release();
        self.wake_watcher();
    }

    /// Counts a release of the poller lock.
    #[inline]
    fn count_release(&self) {
        let begun = self.begun.load(Ordering::Relaxed);
        // Only the poller gets here, so the increment need not be atomic.
        self.begun.store(begun.wrapping_add(1), Ordering::Relaxed);
    }

    /// Wakes the watching thread if it sleeps, after the poller lock was released. That thread
    /// publishes that it sleeps before it checks the lock, and both threads do a read-modify-write
    /// of the lock's word, so one of them sees the other.
    #[inline]
    pub(super) fn wake_watcher(&self) {
        if self.state.summary().get() {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        let mut state = self.state.lock();
        // Cleared by the first call, so that later releases do not take the lock.
        if std::mem::take(&mut state.is_asleep) {
            state.is_called = true;
            state.has_changed = true;
        }
    }

    /// Wakes all standby threads.
    pub(super) fn call_all(&self) {
        let mut state = self.state.lock();
        state.calls = state.calls.wrapping_add(1);
        state.is_asleep = false;
        state.has_changed = true;
    }

    /// Blocks until there may be work: the poller lock is free and its last owner runs a long
    /// handler, or all threads were called. The caller is on standby from then on, also after the
    /// return, until it [ends](Self::end). `stops` gets the number of other standby threads, and
    /// returns true to prevent the wait.
    pub(super) fn wait(
        &self,
        poller_lock: &PollerLock,
        stands: &mut bool,
        stops: impl FnOnce(usize) -> bool,
    ) {
        let standing = |state: &StandbyState| state.standing.saturating_sub(usize::from(*stands));
        let changed = self.state.listeners();
        let state = self.state.lock();
        let (calls, others) = (state.calls, standing(&state));
        drop(state);
        // `stops` may be code of the program, so it is called without the lock. A call from here on
        // is seen below.
        if stops(others) {
            return;
        }
        let mut state = self.state.lock();
        if state.calls != calls {
            return;
        }
        state.standing = standing(&state).saturating_add(1);
        *stands = true;
        // One thread samples. More of them would only wake up more often.
        while state.is_watched {
            state = state.wait(changed, None);
            if state.calls != calls {
                return;
            }
        }
        state.is_watched = true;
        let mut quiet = 0u32;
        loop {
            let begun = self.begun.load(Ordering::Relaxed);
            if quiet < QUIET {
                state = state.wait(changed, Some(TICK));
            } else {
                // Published before the lock is checked. A thread that releases it sees this, or
                // this thread finds it free.
                state.is_asleep = true;
                state.publish();
                if !poller_lock.is_free() {
                    while !state.is_called && state.calls == calls {
                        state = state.wait(changed, None);
                    }
                }
                state.is_asleep = false;
                state.is_called = false;
                quiet = 0;
            }
            if state.calls != calls {
                break;
            }
            // Another handler has begun since the last sample, so the poller gets on.
            if self.begun.load(Ordering::Relaxed) != begun {
                quiet = 0;
            } else if poller_lock.is_free() {
                // The same handler runs since the last sample, and nobody polls meanwhile.
                break;
            } else {
                quiet = quiet.saturating_add(1);
            }
        }
        state.is_watched = false;
        // Another standby thread watches while this one polls.
        state.has_changed = true;
    }

    /// Ends the standby of a thread that polls or ends. Returns true if no standby thread is left.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state.lock();
        state.standing = state.standing.saturating_sub(1);
        state.standing == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The watching thread takes the lock from a thread that released it without running a handler.
    /// Otherwise a thread that looks at every sample would prevent it forever.
    #[test]
    fn a_look_is_not_taken_for_a_handler() {
        let (standby, poller_lock) = (Standby::new(), PollerLock::new());
        let begun = || standby.begun.load(Ordering::Relaxed);
        assert!(poller_lock.try_lock(1));
        standby.release(&poller_lock);
        assert_eq!(begun(), 1);
        assert!(poller_lock.try_lock(1));
        standby.release_after_poll(&poller_lock);
        assert_eq!(begun(), 1);
        assert!(poller_lock.is_free());
    }
}
