//! Communicators of a rank, and the operations in them that have failed or ended.

use std::sync::Arc;

use super::communicator::{COLLECTIVE, Communicator, ENDING, Members};
use super::communicators::Communicators;
use super::error::{ElementName, Error};
use super::failures::{Failures, ToldFailure};
use super::revocations::Revocations;
use super::summary::Flags;
use super::tombstones::Tombstones;
use jstream_matching::{Envelope, Pattern};

/// Communicators of a rank, and the operations in them that have failed or ended.
///
/// `flags` is in step with `revocations` and `failures`: both change only in
/// [`change`](Self::change).
pub(super) struct Contexts {
    communicators: Communicators,
    /// Operations of which messages may still arrive.
    tombstones: Tombstones,
    revocations: Revocations,
    failures: Failures,
    flags: Flags,
}

impl Default for Contexts {
    fn default() -> Self {
        Self {
            communicators: Communicators::default(),
            tombstones: Tombstones::default(),
            revocations: Revocations::default(),
            failures: Failures::default(),
            flags: Flags::NONE,
        }
    }
}

impl Contexts {
    /// Returns the flags of the parts that change rarely.
    #[inline]
    pub(super) fn flags(&self) -> Flags {
        self.flags
    }

    fn change<R>(
        &mut self,
        change: impl FnOnce(&mut Revocations, &mut Failures, &Communicators) -> R,
    ) -> R {
        let result = change(
            &mut self.revocations,
            &mut self.failures,
            &self.communicators,
        );
        self.flags = Flags::new(&[
            (Flags::REVOCATIONS, !self.revocations.is_empty()),
            (Flags::OPEN_REVOCATIONS, self.revocations.has_open()),
            (Flags::FAILURES, !self.failures.is_empty()),
        ]);
        result
    }

    /// Adds a communicator, which may have been revoked before.
    pub(super) fn add(&mut self, context: u32, communicator: &Arc<Communicator>) {
        self.communicators.add(context, communicator);
        // A revocation may have arrived before this rank had the communicator. Now it is known
        // whether its sender is a member.
        let members = &communicator.members;
        self.change(|revocations, _, _| revocations.confirm(context, members));
    }

    /// Returns the members of a communicator, if it has a handle.
    pub(super) fn members(&self, context: u32) -> Option<Members> {
        self.communicators.members(context)
    }

    /// Returns the contexts of all communicators.
    pub(super) fn all(&self) -> Vec<u32> {
        self.communicators.contexts().collect()
    }

    /// Returns the error of an operation, if its communicator was revoked.
    #[inline]
    pub(super) fn revocation(&self, context: u32) -> Option<Error> {
        self.revocations.error(context)
    }

    /// Returns the rank that has revoked a communicator.
    pub(super) fn revoking_rank(&self, context: u32) -> Option<u32> {
        self.revocations.rank(context)
    }

    /// Returns true if a communicator of this context can be revoked.
    pub(super) fn can_be_revoked(context: u32) -> bool {
        context < COLLECTIVE && context != ENDING
    }

    /// Records that the rank `by` has revoked a communicator, as the rank `source` says. Ranks that
    /// are no members are ignored. Returns false if nothing has changed.
    pub(super) fn revoke(&mut self, context: u32, by: u32, source: u32) -> bool {
        let members = self.members(context);
        // Without the communicator, nobody can say who its members are. The revocation is checked
        // when the communicator is added.
        let is_by_member =
            members.is_none_or(|members| members.contain(by) && members.contain(source));
        is_by_member
            && self
                .change(|revocations, _, communicators| revocations.add(context, by, communicators))
    }

    /// Takes the revoked contexts whose operations have not been ended.
    pub(super) fn take_open_revocations(&mut self) -> Vec<u32> {
        self.change(|revocations, _, _| revocations.take_open())
    }

    /// Returns true if no receive will match a message, because its communicator was revoked or its
    /// operation has ended.
    #[inline]
    pub(super) fn is_unwanted(&self, envelope: &Envelope) -> bool {
        let Envelope { context, tag, .. } = *envelope;
        let has_ended = || context & COLLECTIVE != 0 && self.tombstones.have(context, tag);
        self.revocations.rank(context).is_some() || has_ended()
    }

    /// Records that an operation has ended at this rank.
    pub(super) fn end_operation(&mut self, context: u32, tag: u64) {
        self.tombstones.add(context, tag);
        if !self.failures.is_empty() {
            self.change(|_, failures, _| failures.remove(context, tag));
        }
    }

    /// Adds the failure of an operation at another rank, as a message tells. Returns the failure
    /// and the members, unless it is known or concerns no operation of this rank.
    pub(super) fn add_failure(
        &mut self,
        envelope: &Envelope,
        descriptor: u64,
    ) -> Option<(ToldFailure, Option<Members>)> {
        let Envelope {
            context,
            tag,
            source,
            ..
        } = *envelope;
        let failure = ToldFailure::new(envelope, descriptor);
        let members = self.members(context);
        let is_member = members
            .as_ref()
            .is_none_or(|members| members.contain(source));
        let is_collective = context & COLLECTIVE != 0;
        let has_ended = self.tombstones.have(context, tag);
        if !is_member || !is_collective || has_ended {
            return None;
        }
        let is_new = self.change(|_, failures, _| failures.add(failure));
        is_new.then_some((failure, members))
    }

    /// Returns the error of a receive from a rank that is lost to another member of the operation.
    #[inline]
    pub(super) fn failure(&self, pattern: &Pattern, expected: ElementName) -> Option<Error> {
        if self.failures.is_empty() {
            return None;
        }
        let members = self.members(pattern.context)?;
        let failure = self.failures.find(pattern, &members)?;
        Some(failure.error(expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_revocations() {
        let mut contexts = Contexts::default();
        let flags = |contexts: &Contexts| {
            let flags = contexts.flags();
            (flags.has_revocations(), flags.has_pending())
        };
        assert_eq!(flags(&contexts), (false, false));
        assert!(contexts.revoke(7, 1, 1) && !contexts.revoke(7, 1, 1));
        assert_eq!(flags(&contexts), (true, true));
        assert_eq!(contexts.take_open_revocations(), [7]);
        assert_eq!(flags(&contexts), (true, false));
    }

    #[test]
    fn flags_follow_the_failures() {
        let mut contexts = Contexts::default();
        let (context, source, tag) = (COLLECTIVE, 1, 7);
        let envelope = Envelope {
            context,
            source,
            tag,
        };
        let told = super::super::failures::TOLD;
        assert!(contexts.add_failure(&envelope, told).is_some());
        assert!(contexts.add_failure(&envelope, told).is_none());
        assert!(contexts.flags().has_failures());
        contexts.end_operation(context, tag);
        assert!(!contexts.flags().has_failures());
        assert!(contexts.add_failure(&envelope, told).is_none());
        assert!(contexts.is_unwanted(&envelope));
    }
}
