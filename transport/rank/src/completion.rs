//! Ends of requests, messages, operations and peers.

use std::sync::Arc;

use super::communicator::COLLECTIVE;
use super::error::Error;
use super::failures::TOLD;
use super::letter::{Ack, Letter};
use super::outcome::RequestOutcome;
use super::peers::{ExpectedPayload, LostPeer};
use super::state::RankState;
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

    /// Notifies the sender that its message was matched, if it asked for that.
    pub(super) fn acknowledge(&mut self, source: u32, ack: Ack, deferred: &mut DeferredWork) {
        match ack {
            Ack::Nobody => {}
            Ack::Line(offer) => {
                self.arrivals.forbid_withdrawal(source, offer);
                self.send_frame(source, Frame::Matched { offer }, deferred);
            }
            Ack::Thread(sender) | Ack::Admitted(sender) => {
                deferred.push(DeferredTask::Finish(sender))
            }
        }
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
        self.release_credit(source, heading.held, deferred);
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
        match (ack, self.contexts.revocation(heading.envelope.context)) {
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

    /// Drops a message for which the library would have to allocate more than it may. Its sender is
    /// told, unless it has sent the message eagerly.
    pub(super) fn refuse_letter(
        &mut self,
        heading: &Heading,
        letter: Letter,
        deferred: &mut DeferredWork,
    ) {
        let (source, max) = (heading.envelope.source, self.max_allocated);
        let (sender, payload) = match letter {
            Letter::Announced { offer } => {
                self.release_credit(source, heading.held, deferred);
                self.arrivals.forbid_withdrawal(source, offer);
                return self.send_frame(source, Frame::Refused { offer, max }, deferred);
            }
            Letter::Here {
                payload,
                ack: Ack::Thread(sender) | Ack::Admitted(sender),
            } => (sender, Some(payload)),
            Letter::Lent { bytes, sender, .. } => {
                // The memory is released before its owner is notified.
                drop(bytes);
                (sender, None)
            }
            letter => return self.drop_letter(heading, letter, deferred),
        };
        let error = sender.too_long(heading.length, max);
        deferred.drop_later(Refusal::new(sender, payload, error));
    }

    fn drop_messages(&mut self, is_meant: impl Fn(&Envelope) -> bool, deferred: &mut DeferredWork) {
        for (heading, letter) in self.arrivals.remove_messages(is_meant) {
            self.drop_letter(&heading, letter, deferred);
        }
        self.admit_backlogs(deferred);
    }

    /// Ends the receives of a revoked communicator, and drops its messages. Returns the requests
    /// that send messages.
    pub(super) fn end_context(&mut self, context: u32, deferred: &mut DeferredWork) -> Vec<OpId> {
        let mut sends = Vec::new();
        for (id, is_send) in self.requests.pending_in(context) {
            if is_send {
                sends.push(id);
            } else {
                self.abandon_receive(id, Error::Cancelled, deferred);
            }
        }
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
        if descriptor >> 32 == TOLD >> 32 {
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

    /// Asks the other rank to withdraw a message of a request, unless it was answered.
    pub(super) fn withdraw(&mut self, id: OpId, deferred: &mut DeferredWork) {
        let sending = self.requests.sending(id);
        let Some((to, offer)) = sending.and_then(|sending| Some((sending.to, sending.offer?)))
        else {
            return;
        };
        let offers = self.peers.offers(to);
        if offers.is_ok_and(|offers| offers.begin_withdrawal(offer, id)) {
            let frame = Frame::Withdraw { offer };
            deferred.push(DeferredTask::SendFrame { to, frame });
        }
    }

    /// Ends a request whose message the other rank has not answered. Its offer stays until the
    /// answer arrives.
    pub(super) fn abandon_send(&mut self, id: OpId, deferred: &mut DeferredWork) {
        let sending = self.requests.sending(id);
        let Some((to, offer)) = sending.and_then(|sending| Some((sending.to, sending.offer?)))
        else {
            return;
        };
        let abandoned = self.peers.offers(to).ok();
        let abandoned = abandoned.and_then(|offers| offers.abandon(offer, id));
        if let Some(body) = abandoned {
            self.withdraw(id, deferred);
            self.complete(id, RequestOutcome::unsent(Error::Cancelled, body), deferred);
        }
    }

    /// Cancels a receive that has no message. Returns false if it has one.
    pub(super) fn cancel_receive(
        &mut self,
        id: OpId,
        error: Error,
        deferred: &mut DeferredWork,
    ) -> bool {
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
        let Some((source, want)) = self.requests.take_want(id) else {
            return self.cancel_receive(id, error, deferred);
        };
        let Some(requester) = self.peers.take_requester(source, want) else {
            return false;
        };
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
            expected,
            offers,
            wants,
        } = lost;
        self.waiters.notify();
        for offer in offers {
            let outcome = RequestOutcome::unsent(error(), offer.body);
            self.complete(offer.request, outcome, deferred);
        }
        for want in wants {
            self.lose_wanted(want, error(), deferred);
        }
        match expected {
            ExpectedPayload::Receive { request, .. }
            | ExpectedPayload::LateReceive { request, .. } => {
                self.complete(request, RequestOutcome::failed(error()), deferred);
            }
            ExpectedPayload::Message(id) => {
                if let Some(letter) = self.arrivals.letter(id) {
                    deferred.drop_later(std::mem::replace(letter, Letter::Lost));
                }
            }
            ExpectedPayload::Nothing | ExpectedPayload::Unwanted => {}
        }
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
