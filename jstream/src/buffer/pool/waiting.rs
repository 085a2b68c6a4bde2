//! Waiting for a jbuf.
//!
//! While somebody waits, all stacks have the flag `WANTED`, and who gives a slot back says so. A slot
//! that was given back before the flag is found by who waits, as it looks after setting it; one that
//! is given back after is announced. So no slot comes back unseen, and giving back costs nothing while
//! nobody waits.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiters: usize,
    /// How many slots came back while somebody waited.
    returns: u64,
}

impl Waiting {
    /// Begins to wait; `want` sets or ends the flag of all stacks.
    pub(super) fn enter<F: Fn(bool)>(&self, want: F) -> Waiter<'_, F> {
        let mut state = self.lock();
        if state.waiters == 0 {
            want(true);
        }
        state.waiters = state.waiters.saturating_add(1);
        Waiter {
            waiting: self,
            want,
        }
    }

    /// Says that a slot has come back.
    pub(super) fn came_back(&self) {
        let mut state = self.lock();
        state.returns = state.returns.wrapping_add(1);
        drop(state);
        self.changed.notify_all();
    }

    /// A panic elsewhere can't leave it half changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits.
pub(super) struct Waiter<'w, F: Fn(bool)> {
    waiting: &'w Waiting,
    want: F,
}

impl<F: Fn(bool)> Waiter<'_, F> {
    /// How many slots have come back; what `wait` is to be told that looks after this.
    pub(super) fn seen(&self) -> u64 {
        self.waiting.lock().returns
    }

    /// Waits until another slot than those `seen` has come back; false when it is too late.
    pub(super) fn wait(&self, seen: u64, until: Option<Instant>) -> bool {
        let mut state = self.waiting.lock();
        while state.returns == seen {
            let changed = &self.waiting.changed;
            state = match until {
                None => changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    changed
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
        true
    }
}

impl<F: Fn(bool)> Drop for Waiter<'_, F> {
    fn drop(&mut self) {
        let mut state = self.waiting.lock();
        state.waiters = state.waiters.saturating_sub(1);
        if state.waiters == 0 {
            (self.want)(false);
        }
    }
}
