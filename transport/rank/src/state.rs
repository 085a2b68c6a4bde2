//! State that is protected by the lock of an inbox, and completion of requests.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use super::credit::Account;
use super::error::Error;
use super::letter::{ExpectedPayload, Letter, Offer};
use super::queue::Exit;
use super::receive_wait::Want;
use super::request::{RankRequest, RequestOutcome};
use super::table::{Number, NumberTable};
use super::wire::Frame;
use super::work_queue::{DeferredTask, DeferredWork};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{OpId, Ops};
use jstream_matching::{Heading, Matcher, MessageId};

/// State that is protected by the lock of an inbox.
pub(super) struct RankState {
    pub(super) matcher: Matcher<OpId, Letter>,
    pub(super) requests: Ops<RankRequest>,
    /// Peers by rank, including this rank itself.
    pub(super) peers: Vec<Peer>,
    /// Number of other ranks that are not gone.
    pub(super) live: usize,
    /// True if a request ended since the lock was taken.
    pub(super) news: bool,
    pub(super) to_wake: Vec<Waker>,
    pub(super) sleepers: u32,
    /// True if a thread sleeps on the bell.
    pub(super) is_watched: bool,
    /// Number of threads that wait for any message to arrive, whether they receive it or not.
    pub(super) probers: u32,
    /// The rank whose queue is polled first by a receive from any source.
    pub(super) first: u32,
    /// Number of requests that a task waits for.
    pub(super) tasks: u32,
    pub(super) closed: bool,
}

/// State of another rank.
#[derive(Default)]
pub(super) struct Peer {
    /// The reason, if the rank is gone.
    pub(super) gone: Option<Arc<str>>,
    /// Flow control of its messages, if they arrive over a connection.
    pub(super) account: Option<Account>,
    /// The destination of the payload that is arriving.
    pub(super) incoming: ExpectedPayload,
    /// Messages of this rank that the peer has to answer.
    pub(super) offers: NumberTable<Offer>,
    /// Messages of the peer whose payload was requested.
    pub(super) wants: NumberTable<Want>,
    /// Messages of the peer that are queued in this inbox and that the peer may withdraw.
    pub(super) withdrawable: HashMap<Number, MessageId>,
    /// The receiving end of the queue for short messages of a thread.
    pub(super) exit: Option<Exit>,
    /// Messages of a thread that do not fit the bounds of the matcher, in order.
    pub(super) backlog: VecDeque<(Heading, Letter)>,
}

impl RankState {
    /// Makes all waiting threads check their conditions again.
    #[inline]
    pub(super) fn news(&mut self) {
        self.news = true;
    }

    /// Notes that a message was queued, or has no room.
    #[inline]
    pub(super) fn note_arrival(&mut self) {
        self.news |= self.probers > 0;
    }

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
        request.posted = None;
        request.asked = None;
        let jbuf = request.take_place();
        let mut outcome = outcome;
        if outcome.spent.is_none() {
            outcome.spent = jbuf;
        }
        if request.forgotten {
            self.news = true;
            self.requests.end(id);
            deferred.drop_later(outcome);
            return;
        }
        request.outcome = Some(outcome);
        if let Some(task) = request.task.take() {
            self.tasks = self.tasks.saturating_sub(1);
            self.to_wake.push(task);
        }
        self.news = true;
    }

    /// Takes the outcome of a request that has ended.
    #[inline]
    pub(super) fn take_outcome(&mut self, id: OpId) -> Option<RequestOutcome> {
        let outcome = self.requests.get_mut(id)?.outcome.take()?;
        self.requests.end(id);
        Some(outcome)
    }

    /// Returns the error of a rank that is gone, or `None` if it may still send.
    pub(super) fn gone(&self, rank: u32) -> Option<Error> {
        let why = self.peers.get(rank as usize)?.gone.clone()?;
        Some(Error::PeerGone { rank, why })
    }

    /// Returns true if the rank is gone and sends nothing more.
    pub(super) fn is_over(&self, rank: u32) -> bool {
        let peer = self.peers.get(rank as usize);
        peer.is_none_or(|peer| peer.gone.is_some())
    }

    pub(super) fn nobody_is_left(&self) -> bool {
        self.live == 0 && self.peers.len() > 1
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

    pub(super) fn lines_are_gone(&self) -> bool {
        let mut lines = self.peers.iter().filter(|peer| peer.account.is_some());
        lines.all(|peer| peer.gone.is_some())
    }

    #[inline]
    pub(super) fn peer(&mut self, rank: u32) -> Option<&mut Peer> {
        self.peers.get_mut(rank as usize)
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
        self.news = true;
        let incoming = std::mem::take(&mut peer.incoming);
        let backlog = std::mem::take(&mut peer.backlog);
        let offers = peer.offers.drain();
        let wants = peer.wants.drain();
        peer.withdrawable.clear();
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
    }
}
