//! Load of a server over all its listeners.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jstream_transport::active::Handlers;

use super::greeters::Greeters;
use crate::reflection::Health;
use crate::session::CALLS;
use crate::sync::lock;

/// Counters of current work and of refused work.
#[derive(Debug, Default)]
pub(crate) struct Load {
    connections: AtomicUsize,
    /// Connections in the handshake.
    greeters: Greeters,
    waiting: AtomicUsize,
    /// Calls that are held until they can start.
    held: AtomicUsize,
    refused_connections: AtomicU64,
    refused_calls: AtomicU64,
    /// Listeners that are not shutting down.
    listening: AtomicUsize,
    /// Calls that started inline and continued as tasks.
    moved: AtomicU64,
    ran: Mutex<Ran>,
}

/// Sources of the counters of inline and moved calls.
#[derive(Debug, Default)]
struct Ran {
    listeners: Vec<Handlers>,
    /// Sums of the listeners that have ended.
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
    /// Reserves a place for a connection if there are fewer than `connections`.
    pub(super) fn place(self: &Arc<Self>, connections: usize) -> Option<Place> {
        take(&self.connections, connections).then(|| Place(self.clone()))
    }

    /// Returns the connections in the handshake.
    pub(super) fn greeters(&self) -> &Greeters {
        &self.greeters
    }

    /// Counts a connection that was refused or evicted during the handshake.
    pub(super) fn refuse_connection(&self) {
        self.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds a listener.
    pub(super) fn listen(&self, handlers: &Handlers) {
        self.listening.fetch_add(1, Ordering::Relaxed);
        lock(&self.ran).listeners.push(handlers.clone());
    }

    /// Removes a listener that has ended.
    pub(super) fn forget(&self, handlers: &Handlers) {
        let mut ran = lock(&self.ran);
        let of = |known: &Handlers| known.is_same(handlers);
        if let Some(place) = ran.listeners.iter().position(of) {
            ran.listeners.swap_remove(place);
            ran.before = ran.before.and(handlers);
        }
    }

    /// Counts a call that continues as a task.
    pub(super) fn moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a listener is shutting down.
    pub(super) fn end(&self) {
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if a listener is not shutting down.
    pub(crate) fn listens(&self) -> bool {
        self.listening.load(Ordering::Relaxed) > 0
    }

    /// Counts a method that is suspended.
    pub(crate) fn wait(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a method that is no longer suspended.
    pub(crate) fn go_on(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a call that is held.
    pub(crate) fn hold(&self) {
        self.held.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that is no longer held.
    pub(crate) fn release(&self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the number of suspended methods.
    pub(crate) fn methods(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of suspended methods and held calls.
    pub(crate) fn waiting(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        self.methods().saturating_add(held)
    }

    /// Counts a refused call.
    pub(crate) fn refuse(&self) {
        self.refused_calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn health(&self, names: u64) -> Health {
        let ran = lock(&self.ran);
        let counted = ran.listeners.iter().fold(ran.before, Counted::and);
        drop(ran);
        // These calls are counted as inline by the transport, because their handlers have returned.
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

/// Increments `count` if it is less than `most`.
fn take(count: &AtomicUsize, most: usize) -> bool {
    let more = |taken: usize| (taken < most).then(|| taken.wrapping_add(1));
    count
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
        .is_ok()
}

/// The place of one connection. Dropping it releases the place.
#[derive(Debug)]
pub(super) struct Place(Arc<Load>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
