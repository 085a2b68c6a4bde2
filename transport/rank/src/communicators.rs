//! The communicators of a rank, by context.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::communicator::{COLLECTIVE, Communicator, Members};

/// The communicators of a rank that have handles, by context.
#[derive(Default)]
pub(super) struct Communicators(HashMap<u32, Weak<Communicator>>);

impl Communicators {
    /// Adds a communicator, and removes those whose handles were all dropped.
    pub(super) fn add(&mut self, context: u32, communicator: &Arc<Communicator>) {
        self.0.retain(|_, other| other.strong_count() > 0);
        self.0.insert(context, Arc::downgrade(communicator));
    }

    /// Returns the members of a communicator, if it has a handle.
    pub(super) fn members(&self, context: u32) -> Option<Members> {
        let communicator = self.0.get(&(context & !COLLECTIVE))?.upgrade()?;
        Some(communicator.members.clone())
    }

    /// Returns true if a communicator has a handle.
    pub(super) fn have(&self, context: u32) -> bool {
        let found = self.0.get(&context);
        found.is_some_and(|communicator| communicator.strong_count() > 0)
    }

    /// Returns the number of communicators.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the contexts of all communicators.
    pub(super) fn contexts(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }
}
