//! How much a server has to do, over all its listeners.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::reflection::Health;

/// What is under way, and what was refused.
#[derive(Debug, Default)]
pub(crate) struct Load {
    connections: AtomicUsize,
    waiting: AtomicUsize,
    refused_connections: AtomicU64,
    refused_calls: AtomicU64,
    ending: AtomicBool,
}

impl Load {
    /// A place for one more connection, where there are fewer than `most`.
    pub(super) fn place(self: &Arc<Self>, most: usize) -> Option<Place> {
        let taken = take(&self.connections, most).then(|| Place(self.clone()));
        if taken.is_none() {
            self.refused_connections.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// A method waits from now on.
    pub(crate) fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// It does so no more.
    pub(crate) fn go_on(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many methods wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// A call was refused.
    pub(crate) fn refuse(&self) {
        self.refused_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn health(&self, names: u64) -> Health {
        Health {
            serving: !self.ending.load(Ordering::Relaxed),
            names,
            connections: self.connections.load(Ordering::Relaxed) as u64,
            waiting: self.waiting() as u64,
            refused_connections: self.refused_connections.load(Ordering::Relaxed),
            refused_calls: self.refused_calls.load(Ordering::Relaxed),
        }
    }
}

/// Counts one more where there are fewer than `most`.
fn take(count: &AtomicUsize, most: usize) -> bool {
    let more = |taken: usize| (taken < most).then(|| taken.wrapping_add(1));
    count
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
        .is_ok()
}

/// The place of one connection.
#[derive(Debug)]
pub(super) struct Place(Arc<Load>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
