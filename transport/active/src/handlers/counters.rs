//! Counters of handlers.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::turn;

/// Counts of what became of a handler's requests.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    inline: Often,
    moved: AtomicU64,
    rerun: AtomicU64,
    refused: AtomicU64,
    pub(super) overrun: AtomicU64,
    panicked: AtomicU64,
}

/// Counter that is incremented often, usually by one thread, which needs no locked instruction for
/// it. When that thread has ended, a new thread at the same address may continue its count.
#[derive(Debug, Default)]
struct Often {
    /// The thread that counted first, or 0. `own` is its count, and `others` that of all other
    /// threads.
    owner: AtomicUsize,
    own: AtomicU64,
    others: AtomicU64,
}

impl Often {
    fn add(&self) {
        let (owner, this) = (self.owner.load(Ordering::Relaxed), turn::token());
        if owner == this {
            let own = self.own.load(Ordering::Relaxed);
            return self.own.store(own.wrapping_add(1), Ordering::Relaxed);
        }
        if owner == 0 {
            // The owner counts in `own` from its next call on. A thread that loses the race counts
            // in `others`.
            let relaxed = Ordering::Relaxed;
            let _ = self.owner.compare_exchange(0, this, relaxed, relaxed);
        }
        Tally::add(&self.others);
    }

    fn read(&self) -> u64 {
        let own = self.own.load(Ordering::Relaxed);
        own.wrapping_add(self.others.load(Ordering::Relaxed))
    }
}

/// Counters of handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Handlers that ended in the receive loop at the first attempt.
    pub ran_inline: u64,
    /// Handlers that continued elsewhere: because they waited, because they run at a worker, or
    /// because the receive loops of a thread were nested too deep.
    pub moved: u64,
    /// Reruns; each one counts.
    pub rerun: u64,
    /// Requests that were returned as busy by [`Request::nack`](crate::Request::nack).
    pub refused: u64,
    /// Runs in the receive loop that exceeded the budget.
    pub overrun: u64,
    /// Handlers that panicked at the first attempt.
    pub panicked: u64,
}

impl Tally {
    fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn inline(&self) {
        self.inline.add();
    }

    pub(crate) fn moved(&self) {
        Self::add(&self.moved);
    }

    pub(crate) fn rerun(&self) {
        Self::add(&self.rerun);
    }

    pub(crate) fn refused(&self) {
        Self::add(&self.refused);
    }

    pub(crate) fn panicked(&self) {
        Self::add(&self.panicked);
    }

    pub(super) fn counters(&self) -> Counters {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters {
            ran_inline: self.inline.read(),
            moved: read(&self.moved),
            rerun: read(&self.rerun),
            refused: read(&self.refused),
            overrun: read(&self.overrun),
            panicked: read(&self.panicked),
        }
    }
}
