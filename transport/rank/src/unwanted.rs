//! Messages that no receive will match, because their communicator was revoked or their operation
//! has ended.

use super::communicator::{COLLECTIVE, ENDING};
use super::error::Error;
use super::inbox::Inbox;
use super::letter::{Ack, Letter};
use super::request::RankRequest;
use super::state::RankState;
use super::work_queue::{DeferredWork, Refusal};
use jstream_endpoint::ops::OpId;
use jstream_matching::{Envelope, Heading};
use jstream_sync::callbacks;

impl Inbox {
    /// Records that the rank `by` has revoked a communicator, as the rank `source` says. Ranks that
    /// are no members are ignored. Returns false if no communicator of this context can be revoked.
    pub(super) fn note_revocation(&self, context: u32, by: u32, source: u32) -> bool {
        if context >= COLLECTIVE || context == ENDING || by >= self.size {
            return false;
        }
        self.lock().record_revocation(context, by, source);
        true
    }
}

impl RankState {
    fn record_revocation(&mut self, context: u32, by: u32, source: u32) {
        let members = self.communicators.members(context);
        let is_by_member =
            members.is_none_or(|members| members.contain(by) && members.contain(source));
        if self.closed || !is_by_member {
            return;
        }
        if self.add_revocation(context, by) {
            self.wake_tasks(context);
            self.notify_waiting();
        }
    }

    /// Wakes the tasks that wait for operations of a communicator, so that one of them ends these.
    fn wake_tasks(&mut self, context: u32) {
        self.wake(self.pending_in(context));
    }

    /// Wakes all tasks that wait for requests.
    #[cold]
    pub(super) fn wake_all_tasks(&mut self) {
        let all = self.requests.entries().map(|(id, _)| id);
        self.wake(all.collect());
    }

    fn wake(&mut self, requests: Vec<OpId>) {
        for id in requests {
            let task = self
                .requests
                .get_mut(id)
                .and_then(|request| request.task.take());
            if let Some(task) = task {
                self.tasks = self.tasks.saturating_sub(1);
                callbacks::wake(task);
            }
        }
    }

    /// Returns the requests of a communicator that have not ended.
    fn pending_in(&self, context: u32) -> Vec<OpId> {
        let is_meant = |request: &RankRequest| {
            request.outcome.is_none() && request.context & !COLLECTIVE == context
        };
        let requests = self.requests.entries();
        let pending = requests.filter(|(_, request)| is_meant(request));
        pending.map(|(id, _)| id).collect()
    }

    /// Ends the receives of a revoked communicator, and drops its messages. Returns the requests
    /// that send messages.
    pub(super) fn end_context(&mut self, context: u32, deferred: &mut DeferredWork) -> Vec<OpId> {
        let mut sends = Vec::new();
        for id in self.pending_in(context) {
            match self.requests.get(id).map(|request| request.sends) {
                Some(None) => {
                    self.give_up(id, Error::Cancelled, deferred);
                }
                Some(Some(_)) => sends.push(id),
                None => {}
            }
        }
        self.drop_messages(|other| other.context & !COLLECTIVE == context, deferred);
        sends
    }

    /// Creates a request of a message for the rank `to`.
    pub(super) fn insert_send(&mut self, context: u32, to: u32) -> Result<OpId, Error> {
        match self.rare.revocations.error(context) {
            Some(error) => Err(error),
            None => Ok(self.requests.insert(RankRequest::send(context, to))),
        }
    }

    /// Returns true if no receive will match a message, because its communicator was revoked or its
    /// operation has ended.
    #[inline]
    pub(super) fn is_unwanted(&self, envelope: &Envelope) -> bool {
        let Envelope { context, tag, .. } = *envelope;
        let has_ended = || context & COLLECTIVE != 0 && self.tombstones.have(context, tag);
        self.rare.revocations.rank(context).is_some() || has_ended()
    }

    /// Drops the messages of an operation that has ended at this rank, those that still arrive
    /// included.
    pub(super) fn bury(&mut self, context: u32, tag: u64, deferred: &mut DeferredWork) {
        self.tombstones.add(context, tag);
        if !self.rare.failures.is_empty() {
            self.change_rare(|parts| parts.failures.remove(context, tag));
        }
        let is_meant = |other: &Envelope| other.context == context && other.tag == tag;
        self.drop_messages(is_meant, deferred);
    }

    fn drop_messages(&mut self, is_meant: impl Fn(&Envelope) -> bool, deferred: &mut DeferredWork) {
        for (heading, letter) in self.matcher.remove_messages(is_meant) {
            self.drop_letter(&heading, letter, deferred);
        }
        self.let_in(deferred);
    }

    /// Drops a message that is in no queue any more, or not yet. Its sender continues as if a
    /// receive had it, or gets the error of a revoked communicator.
    pub(super) fn drop_letter(
        &mut self,
        heading: &Heading,
        letter: Letter,
        deferred: &mut DeferredWork,
    ) {
        let source = heading.envelope.source;
        self.settle(source, heading.held, deferred);
        let (ack, payload) = match letter {
            Letter::Here { payload, ack } => (ack, Some(payload)),
            Letter::Coming { ack } => (ack, None),
            Letter::Announced { offer } => (Ack::Line(offer), None),
            Letter::Lent { bytes, sender, .. } => {
                // The memory is released before its owner is notified.
                drop(bytes);
                (Ack::Thread(sender), None)
            }
            // A payload that was requested is dropped when it arrives.
            Letter::Asked { .. } | Letter::Lost | Letter::Dropped(_) => (Ack::Nobody, None),
        };
        match (ack, self.rare.revocations.error(heading.envelope.context)) {
            (Ack::Thread(sender) | Ack::Admitted(sender), Some(error)) => {
                deferred.drop_later(Refusal::new(sender, payload, error));
            }
            (ack, _) => {
                self.acknowledge(source, ack, deferred);
                if let Some(payload) = payload {
                    deferred.drop_later(payload);
                }
            }
        }
    }
}
