//! The communicators that were revoked.
//!
//! Decision 093 has the reasons.

use std::collections::HashMap;

use super::communicator::{COLLECTIVE, Members};
use super::communicators::Communicators;
use super::error::Error;

/// Maximum number of revocations of communicators that this rank does not have. Another member may
/// revoke a communicator before this rank has its handle.
const MOST_UNKNOWN: usize = 1024;

/// The communicators that were revoked, by context, each with a rank that has revoked it.
#[derive(Default)]
pub(super) struct Revocations {
    ranks: HashMap<u32, u32>,
    /// Contexts whose operations have not been ended.
    open: Vec<u32>,
}

impl Revocations {
    /// Returns the rank that has revoked a communicator. `context` may be that of its collective
    /// operations.
    #[inline]
    pub(super) fn rank(&self, context: u32) -> Option<u32> {
        if self.ranks.is_empty() {
            return None;
        }
        self.ranks.get(&(context & !COLLECTIVE)).copied()
    }

    /// Returns the error of an operation, if its communicator was revoked.
    #[inline]
    pub(super) fn error(&self, context: u32) -> Option<Error> {
        let rank = self.rank(context)?;
        let context = context & !COLLECTIVE;
        Some(Error::Revoked { context, rank })
    }

    /// Adds a revocation. Returns false if it is known.
    ///
    /// If there are too many, those of communicators without a handle are removed.
    pub(super) fn add(&mut self, context: u32, by: u32, communicators: &Communicators) -> bool {
        // Revocations arrive from each member that passes them on. The first one counts.
        if self.ranks.contains_key(&context) {
            return false;
        }
        // A peer may send revocations of any number. Those of communicators that exist here are
        // never dropped.
        if self.ranks.len() >= MOST_UNKNOWN.saturating_add(communicators.len()) {
            self.ranks.retain(|other, _| communicators.have(*other));
            self.open.retain(|other| communicators.have(*other));
        }
        self.ranks.insert(context, by);
        self.open.push(context);
        true
    }

    /// Checks the revocation of a communicator that this rank has got a handle of. Returns true if
    /// it was revoked by a member.
    pub(super) fn confirm(&mut self, context: u32, members: &Members) -> bool {
        let Some(by) = self.ranks.get(&context) else {
            return false;
        };
        let is_by_member = members.contain(*by);
        if is_by_member {
            // This rank has not passed it on, because it did not know the members.
            self.open.push(context);
        } else {
            // A rank that is no member has no right to revoke the communicator.
            self.ranks.remove(&context);
        }
        is_by_member
    }

    /// Returns true if no communicator was revoked.
    pub(super) fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Returns true if the operations of a communicator have not been ended.
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes the contexts whose operations have not been ended.
    pub(super) fn take_open(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revocations_of_unknown_communicators_are_bounded() {
        let mut revocations = Revocations::default();
        let communicators = Communicators::default();
        for context in (0..).take(10 * MOST_UNKNOWN) {
            assert!(revocations.add(context, 1, &communicators));
            assert!(!revocations.add(context, 2, &communicators));
            assert_eq!(revocations.rank(context | COLLECTIVE), Some(1));
        }
        assert!(revocations.ranks.len() <= MOST_UNKNOWN);
        assert!(revocations.take_open().len() <= MOST_UNKNOWN);
    }

    #[test]
    fn only_members_revoke() {
        let mut revocations = Revocations::default();
        let communicators = Communicators::default();
        revocations.add(7, 1, &communicators);
        revocations.add(8, 1, &communicators);
        assert_eq!(revocations.take_open(), [7, 8]);
        assert!(!revocations.confirm(7, &Members::subgroup(vec![0, 2], 0)));
        assert!(revocations.confirm(8, &Members::subgroup(vec![0, 1], 0)));
        assert_eq!((revocations.rank(7), revocations.rank(8)), (None, Some(1)));
        assert_eq!(revocations.take_open(), [8]);
    }
}
