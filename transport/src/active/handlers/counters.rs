//! How handlers ran.

use std::sync::atomic::{AtomicU64, Ordering};

/// What has become of a handler's requests.
#[derive(Debug, Default)]
pub(in crate::active) struct Tally {
    inline: AtomicU64,
    moved: AtomicU64,
    rerun: AtomicU64,
    refused: AtomicU64,
    pub(super) overrun: AtomicU64,
    panicked: AtomicU64,
}

/// How handlers ran so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Ended in the receive loop, at the first attempt.
    pub ran_inline: u64,
    /// Went on elsewhere: because they waited, because they are to run at a worker, or because the receive loops
    /// of a thread were nested too deep.
    pub moved: u64,
    /// Were run again, each time counted.
    pub rerun: u64,
    /// Were given back for now, by [`Request::nack`](crate::active::Request::nack).
    pub refused: u64,
    /// Ran in the receive loop for longer than their budget.
    pub overrun: u64,
    /// Panicked at the first attempt.
    pub panicked: u64,
}

impl Tally {
    fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::active) fn inline(&self) {
        Self::add(&self.inline);
    }

    pub(in crate::active) fn moved(&self) {
        Self::add(&self.moved);
    }

    pub(in crate::active) fn rerun(&self) {
        Self::add(&self.rerun);
    }

    pub(in crate::active) fn refused(&self) {
        Self::add(&self.refused);
    }

    pub(in crate::active) fn panicked(&self) {
        Self::add(&self.panicked);
    }

    pub(super) fn counters(&self) -> Counters {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counters {
            ran_inline: read(&self.inline),
            moved: read(&self.moved),
            rerun: read(&self.rerun),
            refused: read(&self.refused),
            overrun: read(&self.overrun),
            panicked: read(&self.panicked),
        }
    }
}
