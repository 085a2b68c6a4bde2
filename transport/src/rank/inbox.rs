//! What a rank has of others: its matcher, its requests, and who waits for them, under one lock.
//!
//! Lock order: a direction of an endpoint, then an inbox. Under the lock of an inbox nothing else is
//! locked: what is to be done with endpoints and other inboxes is [noted](Todo), and done afterwards.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::Duration;

use jstream::buffer::Pool;

use super::attention::Attention;
use super::bell::Bell;
use super::credit::{Account, allowed};
use super::error::Error;
use super::letter::{Incoming, Letter, Offer};
use super::options::Options;
use super::queue::Exit;
use super::request::{Outcome, Request};
use super::table::{Number, Table};
use super::todo::{Task, Todo};
use super::wants::Want;
use super::wire::Frame;
use crate::device::deadline::Deadline;
use crate::device::inproc::letter::Letter as Cell;
use crate::device::inproc::ring::Viewer;
use crate::endpoint::gate::Credit;
use crate::endpoint::ops::{OpId, Ops};
use crate::matching::{Heading, Matcher, MessageId};

/// How soon a connection is looked at again whose pool had no room.
const STARVED: Duration = Duration::from_millis(1);

/// The inbox of a rank. Those who send to it from other threads share it.
pub(super) struct Inbox {
    pub(super) rank: u32,
    pub(super) size: u32,
    pub(super) options: Options,
    /// Of those who leave messages in queues.
    pub(super) attention: Attention,
    /// The queues of the others, by rank: to be looked at without the lock.
    pub(super) views: Box<[OnceLock<Viewer<Cell>>]>,
    state: Mutex<State>,
    /// Changes whenever something has ended that somebody may wait for.
    epoch: AtomicU32,
    /// How many threads wait for something.
    waiting: AtomicU32,
    /// How waits have ended lately.
    pub(super) habit: AtomicU8,
    /// There are news, or nobody sleeps on the bell.
    changed: Condvar,
    /// Where one thread sleeps for all connections, if there are any.
    pub(super) bell: OnceLock<Bell>,
    /// The pool of a connection had no room.
    starved: AtomicBool,
}

/// What its lock guards.
pub(super) struct State {
    pub(super) matcher: Matcher<OpId, Letter>,
    pub(super) requests: Ops<Request>,
    /// By rank; this one is among them.
    pub(super) peers: Vec<Peer>,
    /// How many of the others have not gone.
    live: usize,
    /// Something has ended since the lock was taken.
    news: bool,
    to_wake: Vec<Waker>,
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

impl Inbox {
    pub(super) fn new(rank: u32, size: u32, options: &Options) -> Arc<Self> {
        let mut matcher = Matcher::new(allowed(options.bounds));
        let mut peers = Vec::new();
        for number in 0..size {
            let source = matcher.add_source();
            debug_assert_eq!(source, number, "sources are ranks");
            peers.push(Peer::default());
        }
        Arc::new(Self {
            rank,
            size,
            options: options.clone(),
            attention: Attention::new(),
            views: (0..size).map(|_| OnceLock::new()).collect(),
            state: Mutex::new(State {
                matcher,
                requests: Ops::new(),
                live: peers.len().saturating_sub(1),
                peers,
                news: false,
                to_wake: Vec::new(),
                sleepers: 0,
                is_watched: false,
                probers: 0,
                first: 0,
                tasks: 0,
                closed: false,
            }),
            epoch: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            habit: AtomicU8::new(0),
            changed: Condvar::new(),
            bell: OnceLock::new(),
            starved: AtomicBool::new(false),
        })
    }

    /// Messages of `rank` are going to come over a connection.
    pub(super) fn add_line(&self, rank: u32) -> io::Result<()> {
        if self.bell.get().is_none() {
            let bell = Bell::new()?;
            self.bell.get_or_init(|| bell);
        }
        if let Some(peer) = self.lock().peer(rank) {
            peer.account = Some(Account::new(self.options.bounds));
        }
        Ok(())
    }

    pub(super) fn set_starved(&self) {
        self.starved.store(true, Ordering::Relaxed);
    }

    /// Whether the pool of a connection had no room since this was asked.
    #[inline]
    pub(super) fn take_starved(&self) -> bool {
        self.starved.load(Ordering::Relaxed) && self.starved.swap(false, Ordering::Relaxed)
    }

    /// When to look at the connections again, whose pools may have room by then.
    fn or_room(&self, until: Deadline) -> Deadline {
        if self.starved.load(Ordering::Relaxed) {
            until.or_sooner(Deadline::after(STARVED))
        } else {
            until
        }
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.options.pool
    }

    /// Nothing panics while it is held, except where memory is out and nothing was changed.
    #[inline]
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock, and tells the news.
    #[inline]
    pub(super) fn leave<'i>(&'i self, mut state: MutexGuard<'i, State>) {
        if std::mem::take(&mut state.news) {
            self.tell(state);
        }
    }

    fn tell<'i>(&'i self, mut state: MutexGuard<'i, State>) {
        // With the load of `epoch`: who sees the change finds what has ended.
        self.epoch.fetch_add(1, Ordering::Release);
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
        if let (Some(bell), true) = (self.bell.get(), state.is_watched) {
            bell.ring();
        }
        while let Some(task) = state.to_wake.pop() {
            drop(state);
            crate::endpoint::watcher::wake(task);
            state = self.lock();
        }
    }

    #[inline]
    pub(super) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// A thread waits as long as this lives.
    pub(super) fn note_waiting(&self) -> impl Drop + '_ {
        struct Waits<'i>(&'i AtomicU32);
        impl Drop for Waits<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Waits(&self.waiting)
    }

    pub(super) fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Sleeps until there are news since `seen`, the deadline has passed, or for no reason. `arm` has the
    /// bell rung by the connections.
    /// Afterwards it is `disarm`ed.
    pub(super) fn sleep(
        &self,
        seen: u32,
        until: Deadline,
        arm: impl FnOnce(&Bell),
        disarm: impl FnOnce(&Bell),
    ) {
        let mut state = self.lock();
        if self.epoch() != seen {
            return;
        }
        if self.attention.withdraw() {
            let mut todo = Todo::default();
            self.take_in_all(&mut state, &mut todo);
            if state.news || !todo.is_empty() {
                self.leave(state);
                return self.carry_out(todo, |_| {});
            }
        }
        if let (Some(bell), false) = (self.bell.get(), state.is_watched) {
            state.is_watched = true;
            bell.expect();
            drop(state);
            arm(bell);
            if self.epoch() == seen {
                bell.sleep(self.or_room(until));
            }
            bell.forget();
            disarm(bell);
            let mut state = self.lock();
            state.is_watched = false;
            if state.sleepers > 0 {
                // Another one watches.
                self.changed.notify_all();
            }
            return;
        }
        state.sleepers = state.sleepers.saturating_add(1);
        let left = self.or_room(until).left();
        let mut state = match left {
            None => self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                self.changed
                    .wait_timeout(state, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        };
        state.sleepers = state.sleepers.saturating_sub(1);
    }
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

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn who_finds_no_room_when_about_to_sleep_looks_again_soon() {
        let inbox = Inbox::new(0, 2, &Options::default());
        inbox.add_line(1).unwrap();
        let (done, woken) = mpsc::channel();
        std::thread::spawn(move || {
            let arm = |_: &Bell| inbox.set_starved();
            inbox.sleep(inbox.epoch(), Deadline::NEVER, arm, |_| {});
            done.send(()).unwrap();
        });
        let woken = woken.recv_timeout(Duration::from_secs(60));
        woken.expect("it sleeps while its messages wait for room");
    }
}
