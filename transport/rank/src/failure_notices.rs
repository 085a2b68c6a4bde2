//! Notices of other ranks that a member of a collective operation is lost.

use super::communicator::COLLECTIVE;
use super::error::{ElementName, Error};
use super::failures::{TOLD, ToldFailure};
use super::request::RankRequest;
use super::state::RankState;
use super::work_queue::DeferredWork;
use jstream_matching::{Envelope, Heading, Pattern};

impl RankState {
    /// Returns true if a message is dropped when it arrives: because no receive will match it, or
    /// because it is a notice, which takes effect.
    #[inline]
    pub(super) fn is_dropped(&mut self, heading: &Heading, deferred: &mut DeferredWork) -> bool {
        let descriptor = heading.descriptor.unwrap_or(0);
        if descriptor >> 32 == TOLD >> 32 {
            self.note_failure(&heading.envelope, descriptor, deferred);
            return true;
        }
        self.is_unwanted(&heading.envelope)
    }

    /// Returns the error of a receive from a rank that is lost to another member of the operation.
    #[inline]
    pub(super) fn told_failure(&self, pattern: &Pattern, expected: ElementName) -> Option<Error> {
        if self.rare.failures.is_empty() {
            return None;
        }
        let members = self.communicators.members(pattern.context)?;
        let failure = self.rare.failures.find(pattern, &members)?;
        Some(failure.error(expected))
    }

    /// Ends the receives of an operation from a rank that is lost to another member.
    #[cold]
    fn note_failure(&mut self, envelope: &Envelope, descriptor: u64, deferred: &mut DeferredWork) {
        let Envelope {
            context,
            tag,
            source,
            ..
        } = *envelope;
        let failure = ToldFailure::of(envelope, descriptor);
        let members = self.communicators.members(context);
        let is_member = members
            .as_ref()
            .is_none_or(|members| members.contain(source));
        let is_collective = context & COLLECTIVE != 0;
        let is_over = self.tombstones.have(context, tag);
        if !is_member || !is_collective || is_over {
            return;
        }
        if !self.change_rare(|parts| parts.failures.add(failure)) {
            return;
        }
        let is_meant = |request: &RankRequest| {
            let is_open = request.outcome.is_none() && request.sends.is_none();
            let both = request.pattern.as_ref().zip(members.as_ref());
            is_open && both.is_some_and(|(pattern, members)| failure.concerns(pattern, members))
        };
        let requests = self.requests.entries();
        let meant = requests.filter(|(_, request)| is_meant(request));
        let meant: Vec<_> = meant.map(|(id, request)| (id, request.expected)).collect();
        for (id, expected) in meant {
            // A receive whose message is arriving ends with it.
            self.give_up(id, failure.error(expected), deferred);
        }
        self.notify_waiting();
    }
}
