//! What the lock of an inbox guards, and how requests and ranks end there.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use super::credit::Account;
use super::error::Error;
use super::letter::{Incoming, Letter, Offer};
use super::queue::Exit;
use super::request::{Outcome, Request};
use super::table::{Number, Table};
use super::todo::{Task, Todo};
use super::wants::Want;
use super::wire::Frame;
use crate::endpoint::gate::Credit;
use crate::endpoint::ops::{OpId, Ops};
use crate::matching::{Heading, Matcher, MessageId};

/// What its lock guards.
pub(super) struct State {
    pub(super) matcher: Matcher<OpId, Letter>,
    pub(super) requests: Ops<Request>,
    /// By rank; this one is among them.
    pub(super) peers: Vec<Peer>,
    /// How many of the others have not gone.
    pub(super) live: usize,
    /// Something has ended since the lock was taken.
    pub(super) news: bool,
    pub(super) to_wake: Vec<Waker>,
    pub(super) sleepers: u32,
    /// A thread sleeps on the bell.
    pub(super) is_watched: bool,
    /// How many wait for a message to be here, whoever receives it.
    pub(super) probers: u32,
    /// Whose queue is looked at first where any source is wanted.
    pub(super) first: u32,
    /// How many requests a task waits for.
    pub(super) tasks: u32,
    pub(super) closed: bool,
}

/// What is known of another rank.
#[derive(Default)]
pub(super) struct Peer {
    /// How it went.
    pub(super) gone: Option<Arc<str>>,
    /// Its messages come over a connection, and are counted.
    pub(super) account: Option<Account>,
    /// What the payload is for that is on its way.
    pub(super) incoming: Incoming,
    /// Messages of this rank that it has to answer.
    pub(super) offers: Table<Offer>,
    /// Messages of its that it was asked for.
    pub(super) wants: Table<Want>,
    /// Messages of its that wait here and that it may withdraw.
    pub(super) withdrawable: HashMap<Number, MessageId>,
    /// Where short messages of a thread come from.
    pub(super) exit: Option<Exit>,
    /// Messages of a thread that have no room in the matcher, in order.
    pub(super) backlog: VecDeque<(Heading, Letter)>,
}

impl State {
    /// Has all who wait look again.
    #[inline]
    pub(super) fn news(&mut self) {
        self.news = true;
    }

    /// A message waits, or has no room to.
    #[inline]
    pub(super) fn note_arrival(&mut self) {
        self.news |= self.probers > 0;
    }

    /// Ends a request. What belongs to nobody any more is dropped later.
    pub(super) fn complete(&mut self, id: OpId, outcome: Outcome, todo: &mut Todo) {
        let Some(request) = self.requests.get_mut(id) else {
            todo.drop_later(outcome);
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
            todo.drop_later(outcome);
            return;
        }
        request.outcome = Some(outcome);
        if let Some(task) = request.task.take() {
            self.tasks = self.tasks.saturating_sub(1);
            self.to_wake.push(task);
        }
        self.news = true;
    }

    /// What came of a request, once it has ended.
    #[inline]
    pub(super) fn take_outcome(&mut self, id: OpId) -> Option<Outcome> {
        let outcome = self.requests.get_mut(id)?.outcome.take()?;
        self.requests.end(id);
        Some(outcome)
    }

    /// Why nothing of that rank is going to come; `None` when something may.
    pub(super) fn gone(&self, rank: u32) -> Option<Error> {
        let why = self.peers.get(rank as usize)?.gone.clone()?;
        Some(Error::PeerGone { rank, why })
    }

    /// Whether nothing of that rank is going to come.
    pub(super) fn is_over(&self, rank: u32) -> bool {
        let peer = self.peers.get(rank as usize);
        peer.is_none_or(|peer| peer.gone.is_some())
    }

    pub(super) fn nobody_is_left(&self) -> bool {
        self.live == 0 && self.peers.len() > 1
    }

    /// A message of a rank counts no more, as a receive has it, or nobody will. One over a connection gives
    /// back credit.
    #[inline]
    pub(super) fn settle(&mut self, rank: u32, bytes: u64, todo: &mut Todo) {
        let account = self.peers.get_mut(rank as usize);
        let account = account.and_then(|peer| peer.account.as_mut());
        if let Some(credit) = account.and_then(|account| account.settle(bytes)) {
            let frame = Frame::Credit { credit };
            todo.push(Task::Say { to: rank, frame });
        }
    }

    /// As [`settle`](Self::settle), for messages that were received past the matcher.
    pub(super) fn settle_passed(&mut self, rank: u32, passed: Credit, todo: &mut Todo) {
        let account = self.peer(rank).and_then(|peer| peer.account.as_mut());
        if let Some(credit) = account.and_then(|account| account.settle_passed(passed)) {
            let frame = Frame::Credit { credit };
            todo.push(Task::Say { to: rank, frame });
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

    /// A rank has gone: ends what waits for it alone. What it sent before is still received.
    pub(super) fn lose(&mut self, rank: u32, why: &Arc<str>, todo: &mut Todo) {
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
            let outcome = Outcome::unsent(error(), offer.body);
            self.complete(offer.request, outcome, todo);
        }
        for want in wants {
            self.lose_wanted(want, error(), todo);
        }
        match incoming {
            Incoming::Receive { request, .. } | Incoming::Late { request, .. } => {
                self.complete(request, Outcome::failed(error()), todo);
            }
            Incoming::Message(id) => {
                if let Some(letter) = self.matcher.message_mut(id) {
                    todo.drop_later(std::mem::replace(letter, Letter::Lost));
                }
            }
            Incoming::Nothing | Incoming::Unwanted => {}
        }
        todo.drop_later(backlog);
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
            self.complete(ended.receive, Outcome::failed(error), todo);
        }
    }
}
