//! Ends of requests, messages, operations and peers.

use std::sync::Arc;

use super::communicator::COLLECTIVE;
use super::error::Error;
use super::failures::is_notice;
use super::outcome::RequestOutcome;
use super::peers::LostPeer;
use super::state::RankState;
use super::transfer::incoming::Arriving;
use super::transfer::letter::{Leaving, Letter, LetterAnswer, LetterPayload};
use super::wire::Frame;
use super::work_queue::{DeferredTask, DeferredWork, Refusal};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::OpId;
use jstream_matching::{Envelope, Heading};

impl RankState {
    /// Ends a request. Values without an owner are dropped later, outside the lock.
    #[inline]
    pub(super) fn complete(
        &mut self,
        id: OpId,
        outcome: RequestOutcome,
        deferred: &mut DeferredWork,
    ) {
        let rest = self
            .requests
            .complete(id, outcome, &self.contexts, &mut self.waiters);
        if let Some(rest) = rest {
            deferred.drop_later(rest);
        }
    }

    /// Removes a message of a rank from the flow control, because a receive has it or no receive
    /// ever will.
    #[inline]
    pub(super) fn release_credit(&mut self, rank: u32, bytes: u64, deferred: &mut DeferredWork) {
        if let Some(frame) = self.peers.release_credit(rank, bytes) {
            deferred.push(DeferredTask::SendFrame { to: rank, frame });
        }
    }

    /// Like [`release_credit`](Self::release_credit), for messages that bypassed the matcher.
    pub(super) fn release_bypassed(
        &mut self,
        rank: u32,
        passed: Credit,
        deferred: &mut DeferredWork,
    ) {
        if let Some(frame) = self.peers.release_bypassed(rank, passed) {
            deferred.push(DeferredTask::SendFrame { to: rank, frame });
        }
    }

    /// Sends a frame to a rank, unless it is gone.
    pub(super) fn send_frame(&mut self, to: u32, frame: Frame, deferred: &mut DeferredWork) {
        if !self.peers.is_gone(to) {
            deferred.push(DeferredTask::SendFrame { to, frame });
        }
    }

    /// Answers the sender of a message of `source`.
    #[inline]
    pub(super) fn answer(
        &mut self,
        source: u32,
        answer: LetterAnswer,
        deferred: &mut DeferredWork,
    ) {
        let (offer, frame) = match answer {
            LetterAnswer::Nothing => return,
            LetterAnswer::Matched(offer) => (offer, Frame::Matched { offer }),
            LetterAnswer::Refused(offer) => {
                let max = self.max_allocated;
                (offer, Frame::Refused { offer, max })
            }
            LetterAnswer::Finish(sender) => return deferred.push(DeferredTask::Finish(sender)),
            LetterAnswer::Fail(sender, payload, error) => {
                return deferred.drop_later(Refusal::new(sender, payload, error));
            }
        };
        // An answered message cannot be withdrawn any more, and the peer may use its number for
        // another one.
        if let Some(incoming) = self.peers.incoming(source) {
            incoming.take_withdrawable(offer);
        }
        self.send_frame(source, frame, deferred);
    }

    /// Drops a message that is in no queue any more, or not yet. Its sender continues as if a
    /// receive had it, or gets the error of a revoked communicator.
    pub(super) fn drop_letter(
        &mut self,
        heading: &Heading,
        letter: Letter,
        deferred: &mut DeferredWork,
    ) {
        let error = self.contexts.revocation(heading.envelope.context);
        self.discard_letter(heading, letter, Leaving::Unwanted(error), deferred);
    }

    /// Drops a message that is in no queue any more, or not yet, and answers its sender.
    pub(super) fn discard_letter(
        &mut self,
        heading: &Heading,
        letter: Letter,
        leaving: Leaving,
        deferred: &mut DeferredWork,
    ) {
        let source = heading.envelope.source;
        self.release_credit(source, heading.held, deferred);
        let (answer, payload) = letter.leave(leaving);
        self.answer(source, answer, deferred);
        match payload {
            LetterPayload::Here(payload) => deferred.drop_later(payload),
            LetterPayload::Arriving => self.redirect(source, None),
            // A payload that was requested is dropped when it arrives.
            LetterPayload::Announced
            | LetterPayload::Requested(_)
            | LetterPayload::Lent { .. }
            | LetterPayload::Lost
            | LetterPayload::NoRoom(_)
            | LetterPayload::Absent => {}
        }
    }

    fn drop_messages(&mut self, is_meant: impl Fn(&Envelope) -> bool, deferred: &mut DeferredWork) {
        for (heading, letter) in self.arrivals.remove_messages(is_meant) {
            self.drop_letter(&heading, letter, deferred);
        }
        // The messages have left the matcher, so there may be room for others.
        self.admit_backlogs(deferred);
    }

    /// Ends the receives of a revoked communicator, and drops its messages. Returns the requests
    /// that send messages.
    pub(super) fn end_context(&mut self, context: u32, deferred: &mut DeferredWork) -> Vec<OpId> {
        // Sends are returned to the caller: ending them uses connections and other inboxes, which
        // is not allowed under this lock.
        let mut sends = Vec::new();
        for (id, is_send) in self.requests.pending_in(context) {
            if is_send {
                sends.push(id);
            } else {
                self.abandon_receive(id, Error::Cancelled, deferred);
            }
        }
        // The collective operations of a communicator have a context of their own, which is revoked
        // with it.
        self.drop_messages(|other| other.context & !COLLECTIVE == context, deferred);
        sends
    }

    /// Drops the messages of an operation that has ended at this rank, those that still arrive
    /// included.
    pub(super) fn end_operation(&mut self, context: u32, tag: u64, deferred: &mut DeferredWork) {
        self.contexts.end_operation(context, tag);
        let is_meant = |other: &Envelope| other.context == context && other.tag == tag;
        self.drop_messages(is_meant, deferred);
    }

    /// Returns true if a message is dropped when it arrives: because no receive will match it, or
    /// because it is a notice, which takes effect.
    #[inline]
    pub(super) fn is_dropped(&mut self, heading: &Heading, deferred: &mut DeferredWork) -> bool {
        let descriptor = heading.descriptor.unwrap_or(0);
        if is_notice(descriptor) {
            self.record_failure(&heading.envelope, descriptor, deferred);
            return true;
        }
        self.contexts.is_unwanted(&heading.envelope)
    }

    /// Ends the receives of an operation from a rank that is lost to another member.
    #[cold]
    fn record_failure(
        &mut self,
        envelope: &Envelope,
        descriptor: u64,
        deferred: &mut DeferredWork,
    ) {
        let Some((failure, members)) = self.contexts.add_failure(envelope, descriptor) else {
            return;
        };
        if let Some(members) = members {
            let concerned = self
                .requests
                .pending_receives(|pattern| failure.concerns(pattern, &members));
            for (id, expected) in concerned {
                // A receive whose message is arriving ends with it.
                self.abandon_receive(id, failure.error(expected), deferred);
            }
        }
        self.waiters.notify();
    }

    /// Cancels a receive that has no message. Returns false if it has one.
    pub(super) fn cancel_receive(
        &mut self,
        id: OpId,
        error: Error,
        deferred: &mut DeferredWork,
    ) -> bool {
        // A receive that is not posted any more has a message.
        let Some(receive) = self.requests.take_posted(id) else {
            return false;
        };
        let is_cancelled = self.arrivals.cancel(receive);
        if is_cancelled {
            self.complete(id, RequestOutcome::failed(error), deferred);
        }
        is_cancelled
    }

    /// Cancels a receive whose message has not begun to arrive. Returns false if it has, or if the
    /// receive has ended.
    pub(super) fn abandon_receive(
        &mut self,
        id: OpId,
        error: Error,
        deferred: &mut DeferredWork,
    ) -> bool {
        // A receive that has requested a payload is not posted, but can be separated from the
        // payload until that begins to arrive.
        let Some((source, want)) = self.requests.take_want(id) else {
            return self.cancel_receive(id, error, deferred);
        };
        let incoming = self.peers.incoming(source);
        let requester = incoming.and_then(|incoming| incoming.take_requester(want));
        let Some(requester) = requester else {
            return false;
        };
        // Before the claim is released, because another receive may get the message by that.
        self.complete(id, RequestOutcome::failed(error), deferred);
        self.restore(requester.claim, deferred);
        true
    }

    /// Marks a rank as gone and fails the requests that depend on it alone. Messages that it sent
    /// before can still be received.
    pub(super) fn lose(&mut self, rank: u32, reason: &Arc<str>, deferred: &mut DeferredWork) {
        let error = || Error::PeerGone {
            rank,
            reason: reason.clone(),
        };
        let Some(lost) = self.peers.remove(rank, reason) else {
            return;
        };
        let LostPeer {
            arriving,
            offers,
            wants,
        } = lost;
        // Threads may wait for the end of this rank itself.
        self.waiters.notify();
        // The peer never answers now, so the bodies return to their owners.
        for offer in offers {
            let outcome = RequestOutcome::unsent(error(), offer.body);
            self.complete(offer.request, outcome, deferred);
        }
        for requester in wants.into_iter().filter_map(|want| want.requester) {
            self.fail_requester(requester, error(), deferred);
        }
        match arriving {
            Arriving::Receive { request, .. } => {
                self.complete(request, RequestOutcome::failed(error()), deferred);
            }
            Arriving::Letter(id) => {
                // The message stays in its place. The receive that gets it learns that it is lost.
                if let Some(letter) = self.arrivals.letter(id) {
                    letter.lose_source();
                }
            }
            Arriving::Nowhere => {}
        }
        // Messages that have arrived stay, and can still be received.
        let (ended, backlog) = self.arrivals.end_source(rank, self.peers.is_alone());
        deferred.drop_later(backlog);
        for ended in ended {
            let error = match ended.pattern.source {
                Some(_) => error(),
                None => Error::NobodyLeft,
            };
            self.complete(ended.receive, RequestOutcome::failed(error), deferred);
        }
        self.end_subgroups(deferred);
    }

    /// Fails the receives from any source in subgroups that have no other member left.
    fn end_subgroups(&mut self, deferred: &mut DeferredWork) {
        for context in self.contexts.all() {
            if !self.peers.is_alone_in(context, &self.contexts) {
                continue;
            }
            for ended in self.arrivals.end_any_source(context) {
                let outcome = RequestOutcome::failed(Error::NobodyLeft);
                self.complete(ended.receive, outcome, deferred);
            }
        }
    }
}
