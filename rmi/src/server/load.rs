//! How much a server has to do, over all its listeners.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jstream_transport::active::Handlers;

use super::greeters::Greeters;
use crate::reflection::Health;
use crate::session::CALLS;
use crate::sync::lock;

/// What is under way, and what was refused.
#[derive(Debug, Default)]
pub(crate) struct Load {
    connections: AtomicUsize,
    /// Those of them that have not said who they are.
    greeters: Greeters,
    waiting: AtomicUsize,
    /// Calls that are held until they can begin.
    held: AtomicUsize,
    refused_connections: AtomicU64,
    refused_calls: AtomicU64,
    /// Listeners that are not about to end.
    listening: AtomicUsize,
    /// Calls that went on elsewhere, of those that began where they came.
    moved: AtomicU64,
    ran: Mutex<Ran>,
}

/// How calls ran, as the handlers of listeners say.
#[derive(Debug, Default)]
struct Ran {
    listeners: Vec<Handlers>,
    /// Of those that are no more.
    before: Counted,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counted {
    inline: u64,
    moved: u64,
}

impl Counted {
    fn and(self, of: &Handlers) -> Self {
        let counters = of.counters_of(CALLS).unwrap_or_default();
        Self {
            inline: self.inline.saturating_add(counters.ran_inline),
            moved: self.moved.saturating_add(counters.moved),
        }
    }
}

impl Load {
    /// A place for one more connection, where there are fewer than that.
    pub(super) fn place(self: &Arc<Self>, connections: usize) -> Option<Place> {
        take(&self.connections, connections).then(|| Place(self.clone()))
    }

    /// The connections that have not said who they are.
    pub(super) fn greeters(&self) -> &Greeters {
        &self.greeters
    }

    /// A connection was refused, or evicted before it has said who it is.
    pub(super) fn refuse_connection(&self) {
        self.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// One more listener.
    pub(super) fn listen(&self, handlers: &Handlers) {
        self.listening.fetch_add(1, Ordering::Relaxed);
        lock(&self.ran).listeners.push(handlers.clone());
    }

    /// One is no more.
    pub(super) fn forget(&self, handlers: &Handlers) {
        let mut ran = lock(&self.ran);
        let of = |known: &Handlers| known.is_same(handlers);
        if let Some(place) = ran.listeners.iter().position(of) {
            ran.listeners.swap_remove(place);
            ran.before = ran.before.and(handlers);
        }
    }

    /// A call goes on elsewhere.
    pub(super) fn moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// One listener less.
    pub(super) fn end(&self) {
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there is one that is not about to end.
    pub(crate) fn listens(&self) -> bool {
        self.listening.load(Ordering::Relaxed) > 0
    }

    /// A method waits from now on.
    pub(crate) fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// It does so no more.
    pub(crate) fn go_on(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// A call is held from now on.
    pub(crate) fn hold(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// It is so no more.
    pub(crate) fn release(&self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many methods wait.
    pub(crate) fn methods(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// How many methods wait, and calls are held.
    pub(crate) fn waiting(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        self.methods().saturating_add(held)
    }

    /// A call was refused.
    pub(crate) fn refuse(&self) {
        self.refused_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn health(&self, names: u64) -> Health {
        let ran = lock(&self.ran);
        let counted = ran.listeners.iter().fold(ran.before, Counted::and);
        drop(ran);
        // The handlers of these have returned.
        let moved = self.moved.load(Ordering::Relaxed);
        Health {
            ran_inline: counted.inline.saturating_sub(moved),
            moved: counted.moved.saturating_add(moved),
            serving: self.listens(),
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
