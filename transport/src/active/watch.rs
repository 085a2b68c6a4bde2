//! Threads that serve in reserve: one of them watches, and takes over when a handler runs for long.
//!
//! Who receives lets go of the role before a handler runs. To wake another thread each time would cost more than most
//! handlers do. So one looks from time to time, as long as there is something to do: where the same handler has run since
//! its last look, and nobody receives, it does.

use std::time::Duration;

use super::role::Role;
use super::sync::{
    AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, wait, wait_for,
};

/// How long a handler runs at least before another thread goes on.
const TICK: Duration = Duration::from_millis(1);

/// After so many looks that found nothing new, who watches sleeps until it is called.
const QUIET: u32 = if cfg!(loom) { 1 } else { 10 };

/// Where threads in reserve are.
#[derive(Debug)]
pub(super) struct Watch {
    state: Mutex<WatchState>,
    /// Somebody is to look, or to watch.
    changed: Condvar,
    /// How often the role was let go of.
    begun: AtomicUsize,
    /// Who watches sleeps until it is called.
    asleep: AtomicBool,
}

#[derive(Debug, Default)]
struct WatchState {
    /// How many stand by, whoever watches included.
    standing: usize,
    watched: bool,
    /// How often all were called.
    calls: usize,
    /// Who watches was called.
    called: bool,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(WatchState::default()),
            changed: Condvar::new(),
            begun: AtomicUsize::new(0),
            asleep: AtomicBool::new(false),
        }
    }

    /// Lets go of the role, before a handler runs.
    #[inline]
    pub(super) fn leave(&self, role: &Role) {
        self.begin();
        role.leave();
        self.left();
    }

    /// Lets go of the role behind a look, after which no handler runs. Whoever watches takes the role all the same: a thread
    /// that only looks does not come back to serve, however often it looks.
    #[inline]
    pub(super) fn leave_look(&self, role: &Role) {
        role.leave();
        self.left();
    }

    /// The role is let go of.
    #[inline]
    fn begin(&self) {
        let begun = self.begun.load(Ordering::Relaxed);
        // Who has the role does this alone.
        self.begun.store(begun.wrapping_add(1), Ordering::Relaxed);
    }

    /// The role was let go of: whoever watches is to know. Where that one has fallen asleep, it looked at the role behind
    /// its note, and both have changed the word of the role.
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

    /// Has all look.
    pub(super) fn call_all(&self) {
        let mut state = self.lock();
        state.calls = state.calls.wrapping_add(1);
        self.asleep.store(false, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits until there may be something to do: the role is free, and nobody comes back to it soon, or all were
    /// called. The caller stands by from then on, also when this returns, until it [goes](Self::go). `stops`, which gets
    /// how many others stand by, says whether to wait at all.
    pub(super) fn stand_by(
        &self,
        role: &Role,
        stands: &mut bool,
        stops: impl FnOnce(usize) -> bool,
    ) {
        let mut state = self.lock();
        let calls = state.calls;
        let others = state.standing.saturating_sub(usize::from(*stands));
        if stops(others) {
            return;
        }
        state.standing = others.saturating_add(1);
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
        // Another one watches while this one receives.
        self.changed.notify_all();
    }

    /// One who stood by receives now, or ends. Whether nobody stands by any more.
    pub(super) fn go(&self) -> bool {
        let mut state = self.lock();
        state.standing = state.standing.saturating_sub(1);
        state.standing == 0
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        lock(&self.state)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Whoever watches takes the role from one that has let go of it and begun no handler. A thread that looks at every
    /// tick would keep it from that for ever.
    #[test]
    fn a_look_is_not_taken_for_a_handler() {
        let (watch, role) = (Watch::new(), Role::new());
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
