//! Blocking until a buffer is returned.
//!
//! While a thread waits, the flag `WANTED` is set on all stacks, and a thread that returns a slot
//! announces it. The waiting thread looks for slots after it has set the flag. It therefore finds a
//! slot that was returned before, and a slot that is returned later is announced, so no wake-up is
//! lost. While no thread waits, returning a slot has no extra cost.
//!
//! The flag is a bit of the word that a returned slot changes anyway, so it needs no barrier, as a
//! [`DekkerFlag`](jstream_sync::flag::DekkerFlag) does.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use jstream_sync::{lock, unpoisoned};

#[derive(Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiters: usize,
    /// Number of slots returned while a thread waited.
    returns: u64,
}

impl Waiting {
    /// Begins to wait. `want` sets or clears the flag on all stacks.
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

    /// Announces that a slot has been returned.
    pub(super) fn came_back(&self) {
        let mut state = self.lock();
        state.returns = state.returns.wrapping_add(1);
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// A waiting thread.
pub(super) struct Waiter<'w, F: Fn(bool)> {
    waiting: &'w Waiting,
    want: F,
}

impl<F: Fn(bool)> Waiter<'_, F> {
    /// Returns the number of slots returned so far. The caller reads it before it looks for a slot,
    /// and passes it to `wait`.
    pub(super) fn seen(&self) -> u64 {
        self.waiting.lock().returns
    }

    /// Blocks until a slot is returned in addition to the `seen` ones. Returns false if the
    /// deadline passes first.
    pub(super) fn wait(&self, seen: u64, until: Option<Instant>) -> bool {
        let mut state = self.waiting.lock();
        while state.returns == seen {
            let changed = &self.waiting.changed;
            state = match until {
                None => unpoisoned(changed.wait(state)),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    unpoisoned(changed.wait_timeout(state, left)).0
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
