//! Completion of requests, and of messages in the flow control.

use std::sync::Arc;

use super::error::Error;
use super::letter::{ExpectedPayload, Letter};
use super::request::RequestOutcome;
use super::state::RankState;
use super::wire::Frame;
use super::work_queue::{DeferredTask, DeferredWork};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::OpId;
use jstream_sync::callbacks;

impl RankState {
    /// Ends a request. Values without an owner are dropped later, outside the lock.
    pub(super) fn complete(
        &mut self,
        id: OpId,
        outcome: RequestOutcome,
        deferred: &mut DeferredWork,
    ) {
        let Some(request) = self.requests.get_mut(id) else {
            deferred.drop_later(outcome);
            return;
        };
        if request.outcome.is_some() {
            // The rank has given up the message before.
            deferred.drop_later(outcome);
            return;
        }
        request.posted = None;
        request.asked = None;
        let jbuf = request.take_place();
        let context = request.context;
        let mut outcome = outcome;
        if let Err(Error::Cancelled) = outcome.result {
            if let Some(error) = self.rare.revocations.error(context) {
                outcome.result = Err(error);
            }
        }
        if outcome.empty.is_none() {
            outcome.empty = jbuf;
        }
        if request.forgotten {
            self.notify_waiting();
            self.requests.end(id);
            deferred.drop_later(outcome);
            return;
        }
        request.outcome = Some(outcome);
        if let Some(task) = request.task.take() {
            self.tasks = self.tasks.saturating_sub(1);
            callbacks::wake(task);
        }
        self.notify_waiting();
    }

    /// Removes a message of a rank from the flow control, because a receive has it or no receive
    /// ever will. If it arrived over a connection, its credit is returned in batches.
    #[inline]
    pub(super) fn settle(&mut self, rank: u32, bytes: u64, deferred: &mut DeferredWork) {
        let account = self.peers.get_mut(rank as usize);
        let account = account.and_then(|peer| peer.account.as_mut());
        if let Some(credit) = account.and_then(|account| account.settle(bytes)) {
            let Credit { messages, bytes } = credit;
            let frame = Frame::Credit { messages, bytes };
            deferred.push(DeferredTask::Say { to: rank, frame });
        }
    }

    /// Like [`settle`](Self::settle), for messages that were received on the fast path, bypassing
    /// the matcher.
    pub(super) fn settle_passed(&mut self, rank: u32, passed: Credit, deferred: &mut DeferredWork) {
        let account = self.peer(rank).and_then(|peer| peer.account.as_mut());
        if let Some(credit) = account.and_then(|account| account.settle_passed(passed)) {
            let Credit { messages, bytes } = credit;
            let frame = Frame::Credit { messages, bytes };
            deferred.push(DeferredTask::Say { to: rank, frame });
        }
    }

    /// Marks a rank as gone and fails the requests that depend on it alone. Messages that it sent
    /// before can still be received.
    pub(super) fn lose(&mut self, rank: u32, why: &Arc<str>, deferred: &mut DeferredWork) {
        let error = || Error::PeerGone {
            rank,
            why: why.clone(),
        };
        let Some(peer) = self.peers.get_mut(rank as usize) else {
            return;
        };
        if peer.gone.is_some() {
            return;
        }
        peer.gone = Some(why.clone());
        let incoming = std::mem::take(&mut peer.incoming);
        let backlog = std::mem::take(&mut peer.backlog);
        let offers = peer.offers.drain();
        let wants = peer.wants.drain();
        peer.withdrawable.clear();
        self.notify_waiting();
        for offer in offers {
            let outcome = RequestOutcome::unsent(error(), offer.body);
            self.complete(offer.request, outcome, deferred);
        }
        for want in wants {
            self.lose_wanted(want, error(), deferred);
        }
        match incoming {
            ExpectedPayload::Receive { request, .. } | ExpectedPayload::Late { request, .. } => {
                self.complete(request, RequestOutcome::failed(error()), deferred);
            }
            ExpectedPayload::Message(id) => {
                if let Some(letter) = self.matcher.message_mut(id) {
                    deferred.drop_later(std::mem::replace(letter, Letter::Lost));
                }
            }
            ExpectedPayload::Nothing | ExpectedPayload::Unwanted => {}
        }
        deferred.drop_later(backlog);
        self.live = self.live.saturating_sub(1);
        self.change_rare(|parts| parts.wanted.settle(rank));
        let mut ended = self.matcher.end_source(rank);
        if self.nobody_is_left() {
            ended.extend(self.matcher.end_any_sources());
        }
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
        let contexts = self.communicators.contexts();
        let contexts: Vec<_> = contexts
            .filter(|context| self.nobody_is_left_in(*context))
            .collect();
        for context in contexts {
            for ended in self.matcher.end_any_source(context) {
                let outcome = RequestOutcome::failed(Error::NobodyLeft);
                self.complete(ended.receive, outcome, deferred);
            }
        }
    }
}
