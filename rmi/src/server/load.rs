//! Load of a server over all its listeners.

use std::sync::{Arc, Mutex};

use jstream_active::Handlers;

use crate::call::Health;
use crate::frame::CALLS;
use crate::server::options::ServerOptions;
use crate::server::places::Places;
use crate::session::{AdmissionControl, ServerCounters};
use crate::support::lock;

/// Counters of current work and of refused work.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Open connections.
    places: Arc<Places>,
    counters: Arc<ServerCounters>,
    ran: Mutex<Ran>,
    /// Admission of calls, if the options limit them.
    admission: Option<Arc<AdmissionControl>>,
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
    pub(super) fn new(options: &ServerOptions) -> Self {
        let limits = &options.admission;
        let control = || AdmissionControl::new(limits, &options.clock);
        Self {
            admission: limits.are_limiting().then(control),
            ..Self::default()
        }
    }

    /// Returns the admission of calls, if the options limit them.
    pub(super) fn admission(&self) -> Option<&Arc<AdmissionControl>> {
        self.admission.as_ref()
    }

    /// Returns the places of the connections.
    pub(crate) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    /// Returns the counters that the sessions use, too.
    pub(crate) fn counters(&self) -> &Arc<ServerCounters> {
        &self.counters
    }

    /// Adds a listener.
    pub(super) fn listen(&self, handlers: &Handlers) {
        self.counters.listen();
        lock(&self.ran).listeners.push(handlers.clone());
    }

    /// Removes a listener that has ended.
    pub(super) fn forget(&self, handlers: &Handlers) {
        let mut ran = lock(&self.ran);
        let of = |known: &Handlers| known.is_same(handlers);
        if let Some(place) = ran.listeners.iter().position(of) {
            ran.listeners.swap_remove(place);
            // The counters of a listener end with it, so they join the sums in the step that
            // removes it.
            ran.before = ran.before.and(handlers);
        }
    }

    /// Records that a listener is shutting down.
    pub(super) fn end(&self) {
        self.counters.end_listening();
    }

    pub(crate) fn health(&self, names: u64) -> Health {
        let ran = lock(&self.ran);
        let counted = ran.listeners.iter().fold(ran.before, Counted::and);
        drop(ran);
        // These calls are counted as inline by the transport, because their handlers have returned.
        let moved = self.counters.moved();
        Health {
            ran_inline: counted.inline.saturating_sub(moved),
            moved: counted.moved.saturating_add(moved),
            serving: self.counters.listens(),
            names,
            connections: self.places.taken() as u64,
            waiting: self.counters.waiting() as u64,
            refused_connections: self.places.refused(),
            refused_calls: self.counters.refused(),
        }
    }
}
