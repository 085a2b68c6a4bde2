//! State that is protected by the lock of an inbox.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use super::communicators::Communicators;
use super::credit::Account;
use super::error::Error;
use super::letter::{ExpectedPayload, Letter, Offer, Want};
use super::queue::Exit;
use super::rare_state::{RareParts, RareState};
use super::request::{RankRequest, RequestOutcome};
use super::table::{Number, NumberTable};
use super::tombstones::Tombstones;
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
    /// Number of threads that sleep without the bell.
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
    pub(super) communicators: Communicators,
    /// Operations of which messages may still arrive.
    pub(super) tombstones: Tombstones,
    pub(super) rare: RareState,
    /// In the upper half, a counter that is incremented whenever something ends that a thread may
    /// wait for; in the lower half, the flags of the rare parts.
    summary: u64,
}

/// State of another rank.
#[derive(Default)]
pub(super) struct Peer {
    /// The reason, if the rank is gone.
    pub(super) gone: Option<Arc<str>>,
    /// Flow control of its messages, if they arrive over a connection.
    pub(super) account: Option<Account>,
    /// Maximum length in bytes of an announced message for which memory is allocated.
    pub(super) max_allocated: u64,
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
    /// Creates the state of an inbox in a world of `size` ranks.
    pub(super) fn new(size: u32, matcher: Matcher<OpId, Letter>, peers: Vec<Peer>) -> Self {
        Self {
            matcher,
            requests: Ops::default(),
            live: peers.len().saturating_sub(1),
            peers,
            sleepers: 0,
            is_watched: false,
            probers: 0,
            first: 0,
            tasks: 0,
            closed: false,
            communicators: Communicators::default(),
            tombstones: Tombstones::default(),
            rare: RareState::new(size),
            summary: 0,
        }
    }

    /// Makes all waiting threads check their conditions again, when the lock is released.
    #[inline]
    pub(super) fn notify_waiting(&mut self) {
        self.summary = self.summary.wrapping_add(1 << 32);
    }

    /// Changes the rare parts.
    pub(super) fn change_rare<R>(&mut self, change: impl FnOnce(&mut RareParts) -> R) -> R {
        self.rare.change(&mut self.summary, change)
    }

    /// Adds the revocation of a communicator by a rank. Returns false if it is known.
    pub(super) fn add_revocation(&mut self, context: u32, by: u32) -> bool {
        self.rare.change(&mut self.summary, |parts| {
            parts.revocations.add(context, by, &self.communicators)
        })
    }

    /// Returns the counter of changes in the upper half, and the flags in the lower half.
    #[inline]
    pub(super) fn summary(&self) -> u64 {
        self.summary
    }

    /// Returns the counter of changes.
    #[inline]
    pub(super) fn epoch(&self) -> u32 {
        (self.summary >> 32) as u32
    }

    /// Records that a message was queued, or has no room.
    #[inline]
    pub(super) fn record_arrival(&mut self) {
        if self.probers > 0 {
            self.notify_waiting();
        }
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

    /// Returns true if no other member of a communicator is left that could send a message.
    pub(super) fn nobody_is_left_in(&self, context: u32) -> bool {
        if self.nobody_is_left() {
            return true;
        }
        let members = self.communicators.members(context);
        members.is_some_and(|members| members.others_are_all(|rank| self.is_over(rank)))
    }

    pub(super) fn lines_are_gone(&self) -> bool {
        let mut lines = self.peers.iter().filter(|peer| peer.account.is_some());
        lines.all(|peer| peer.gone.is_some())
    }

    #[inline]
    pub(super) fn peer(&mut self, rank: u32) -> Option<&mut Peer> {
        self.peers.get_mut(rank as usize)
    }

    /// Wakes `task` when the request ends. Returns a waker to be dropped without the lock: that of
    /// an earlier call, or `task` if it is not needed. Cloning, comparing and dropping wakers may
    /// run code of the program.
    #[must_use = "is dropped without the lock"]
    pub(super) fn set_task(&mut self, id: OpId, task: Waker) -> Option<Waker> {
        let Some(request) = self.requests.get_mut(id) else {
            return Some(task);
        };
        let known = request.task.replace(task);
        if known.is_none() {
            self.tasks = self.tasks.saturating_add(1);
        }
        known
    }

    /// Discards the outcome of a request when it ends. Returns the waker of its task, to be dropped
    /// without the lock.
    #[must_use = "is dropped without the lock"]
    pub(super) fn forget(&mut self, id: OpId) -> Option<Waker> {
        let request = self.requests.get_mut(id)?;
        request.forgotten = true;
        let task = request.task.take();
        if task.is_some() {
            self.tasks = self.tasks.saturating_sub(1);
        }
        task
    }
}
