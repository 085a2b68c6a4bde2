//! Places of the open connections of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counters of the open connections and of the refused ones.
#[derive(Debug, Default)]
pub(crate) struct Places {
    taken: AtomicUsize,
    refused: AtomicU64,
}

/// The place of one connection. Dropping it releases the place.
#[derive(Debug)]
pub(crate) struct Place(Arc<Places>);

impl Places {
    /// Takes a place for a connection if fewer than `most` are taken.
    pub(crate) fn take(self: &Arc<Self>, most: usize) -> Option<Place> {
        let more = |taken: usize| (taken < most).then(|| taken.wrapping_add(1));
        let took = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        took.is_ok().then(|| Place(self.clone()))
    }

    /// Counts a connection that was refused or evicted during the handshake.
    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of open connections.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns the number of refused connections.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}
