//! The subgroups that a rank is a member of, to end receives whose senders are all gone.

use std::collections::HashMap;

use super::communicator::{COLLECTIVE, Members, WeakMembers};

/// The members of the subgroups of a rank, by context. A communicator of all ranks has no entry.
#[derive(Default)]
pub(super) struct Subgroups(HashMap<u32, WeakMembers>);

impl Subgroups {
    /// Adds the members of a context, and removes the contexts whose handles were all dropped.
    pub(super) fn add(&mut self, context: u32, members: &Members) {
        if let Some(members) = members.downgrade() {
            self.0.retain(|_, members| members.upgrade().is_some());
            self.0.insert(context, members);
        }
    }

    /// Returns the members of a context, if it is the context of a subgroup.
    pub(super) fn members(&self, context: u32) -> Option<Members> {
        self.0.get(&(context & !COLLECTIVE))?.upgrade()
    }

    /// Returns the contexts of all subgroups.
    pub(super) fn contexts(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }
}
