//! A rank: its inbox, and the paths to other ranks. Waiting threads drive the connections.
//!
//! A path over a connection has none at first, if the rank has a [`Dial`]: a send connects, and so
//! does a thread that waits for a message of the other rank.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use super::bell::Bell;
use super::error::Error;
use super::inbox::Inbox;
use super::line::Line;
use super::local::Near;
use super::local_values::LocalValues;
use super::outcome::RequestOutcome;
use super::progress;
use super::state::RankState;
use super::unused_contexts::UnusedContexts;
use super::work_queue::{DeferredTask, DeferredWork};
use jstream_base::SendError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;
use jstream_endpoint::codec_cache::CodecCache;
use jstream_endpoint::ops::OpId;
use jstream_endpoint::shared::Half;
use jstream_endpoint::spin::Spin;

/// The state that all handles of a rank share.
pub(super) struct Node {
    pub(super) inbox: Arc<Inbox>,
    /// Paths to all ranks, by rank.
    paths: Box<[Path]>,
    /// Number of ranks that are reached over a connection, which may not exist yet.
    remotes: usize,
    /// Ranks with a connection.
    lines: LineList,
    /// Opens connections that do not exist yet.
    dialer: Option<Box<dyn Dial>>,
    /// Ranks of this process.
    threads: Vec<u32>,
    /// Numbers of contexts that no communicator has.
    pub(super) unused_contexts: UnusedContexts,
    /// The index after the request that ended last when several were waited for.
    pub(super) next_request: AtomicUsize,
    /// Cache of readers and writers for objects.
    pub(super) codecs: CodecCache,
    /// Values of the variables of `rank_local!`.
    pub(super) locals: LocalValues,
}

/// The path to a rank.
pub(super) enum Path {
    Nobody,
    /// A rank of this process, possibly this rank itself.
    Thread(Near),
    /// A rank that is reached over a connection, which is set when it exists.
    Remote(OnceLock<Line>),
}

/// The way in which a rank is reached.
#[derive(Clone, Copy)]
pub(super) enum Link<'n> {
    /// A rank of this process, possibly this rank itself.
    Thread(&'n Near),
    Line(&'n Line),
}

/// Opens connections to ranks when they are first needed.
pub(super) trait Dial: Send + Sync {
    /// Returns when `node` has a connection to a rank, or the reason why it has none. The
    /// connection may be one that the other rank has opened.
    fn dial(&self, node: &Node, rank: u32, until: Deadline) -> Result<(), DialFailure>;

    /// Waits until no connection is being opened or accepted, at most until the deadline.
    fn wait_until_idle(&self, until: Deadline);
}

/// The reason why there is no connection to a rank.
pub(super) enum DialFailure {
    /// The deadline of the caller has passed. There may be a connection later.
    Late,
    /// There will be none.
    Lost(String),
}

/// Least time for which a thread that waits for a message tries to connect to the source, because
/// an attempt that is given up earlier may never succeed.
const DIAL_TIME: Duration = Duration::from_millis(250);

/// The ranks with a connection, in the order in which these were opened. Ranks are added under the
/// lock of the inbox, and read without it.
struct LineList {
    ranks: Box<[AtomicU32]>,
    count: AtomicUsize,
}

impl LineList {
    fn new(most: usize) -> Self {
        Self {
            ranks: (0..most).map(|_| AtomicU32::new(0)).collect(),
            count: AtomicUsize::new(0),
        }
    }

    /// Adds a rank. The caller holds the lock of the inbox.
    fn add(&self, rank: u32) {
        let count = self.count.load(Ordering::Relaxed);
        if let Some(place) = self.ranks.get(count) {
            place.store(rank, Ordering::Relaxed);
            // Pairs with the load in `iter`: a thread that sees the count sees the rank.
            self.count.store(count.saturating_add(1), Ordering::Release);
        }
    }

    #[inline]
    fn iter(&self) -> impl Iterator<Item = u32> {
        let count = self.count.load(Ordering::Acquire);
        let ranks = self.ranks.iter().take(count);
        ranks.map(|rank| rank.load(Ordering::Relaxed))
    }
}

impl Node {
    pub(super) fn new(inbox: Arc<Inbox>, paths: Vec<Path>, dialer: Option<Box<dyn Dial>>) -> Self {
        let numbered = (0..).zip(&paths);
        let threads = numbered.filter(|(_, path)| matches!(path, Path::Thread(_)));
        let threads = threads.map(|(rank, _)| rank).collect();
        let remotes = paths.iter().filter(|path| matches!(path, Path::Remote(_)));
        let remotes = remotes.count();
        Self {
            remotes,
            lines: LineList::new(remotes),
            dialer,
            threads,
            inbox,
            paths: paths.into(),
            unused_contexts: UnusedContexts::new(),
            next_request: AtomicUsize::new(0),
            codecs: CodecCache::default(),
            locals: LocalValues::default(),
        }
    }

    /// Adds the connection to a rank, unless there is one. Threads and tasks that wait drive it
    /// from now on.
    pub(super) fn attach(&self, rank: u32, endpoint: Endpoint) {
        let Some(Path::Remote(place)) = self.paths.get(rank as usize) else {
            return;
        };
        if place.get().is_some() {
            return;
        }
        // The account comes first, because the sink of the new line takes messages at once.
        self.inbox.add_line(rank);
        let line = Line::new(rank, endpoint, &self.inbox);
        if place.set(line).is_ok() {
            // The list has one writer at a time because of this lock.
            let mut state = self.inbox.lock();
            self.lines.add(rank);
            state.add_connection(rank);
        }
    }

    /// Returns the way to a rank, and connects to it if there is no connection.
    ///
    /// # Errors
    ///
    /// [`Error::PeerGone`] if the rank can't be connected to. It is gone from then on.
    #[inline]
    pub(super) fn link(&self, rank: u32) -> Result<Link<'_>, Error> {
        match self.paths.get(rank as usize) {
            Some(Path::Thread(near)) => Ok(Link::Thread(near)),
            Some(Path::Remote(place)) => match place.get() {
                Some(line) => Ok(Link::Line(line)),
                None => self.connect(rank, place),
            },
            Some(Path::Nobody) | None => Err(self.no_rank(rank)),
        }
    }

    /// Returns true if messages to a rank need no new connection.
    pub(super) fn is_linked(&self, rank: u32) -> bool {
        match self.paths.get(rank as usize) {
            Some(Path::Thread(_)) => true,
            Some(Path::Remote(place)) => place.get().is_some_and(|line| !line.is_gone()),
            Some(Path::Nobody) | None => false,
        }
    }

    /// Connects to a rank, if there is no connection. Returns false if there is none by the
    /// deadline, and the rank is not known to be gone.
    #[inline]
    pub(super) fn reach(&self, rank: u32, until: impl FnOnce() -> Deadline) -> bool {
        match self.paths.get(rank as usize) {
            Some(Path::Remote(place)) if place.get().is_none() => {
                self.connect_by(rank, place, until()).is_some()
            }
            _ => true,
        }
    }

    fn no_rank(&self, rank: u32) -> Error {
        let size = self.inbox.size;
        Error::NoRank { rank, size }
    }

    #[cold]
    fn connect<'n>(&'n self, rank: u32, place: &'n OnceLock<Line>) -> Result<Link<'n>, Error> {
        let connected = self.connect_by(rank, place, Deadline::NEVER);
        connected.unwrap_or_else(|| Err(self.no_rank(rank)))
    }

    /// Connects to a rank. Returns `None` if the deadline passes before it is known whether there
    /// is a connection.
    #[cold]
    fn connect_by<'n>(
        &'n self,
        rank: u32,
        place: &'n OnceLock<Line>,
        until: Deadline,
    ) -> Option<Result<Link<'n>, Error>> {
        // A rank that was lost is never connected to again.
        let gone = self.inbox.lock().peers.gone(rank);
        if let Some(error) = gone {
            return Some(Err(error));
        }
        let dialed = match &self.dialer {
            Some(dialer) => dialer.dial(self, rank, until),
            None => Err(DialFailure::Lost(
                "this rank is not connected to it".to_owned(),
            )),
        };
        // Looked up whatever the outcome was: the other rank may have opened the connection
        // meanwhile.
        if let Some(line) = place.get() {
            return Some(Ok(Link::Line(line)));
        }
        let reason = match dialed {
            Ok(()) => String::new(),
            Err(DialFailure::Late) => return None,
            Err(DialFailure::Lost(reason)) => reason,
        };
        let gone = self.with(|state, deferred| {
            state.lose(rank, &Arc::from(reason), deferred);
            state.peers.gone(rank)
        });
        Some(Err(gone.unwrap_or_else(|| self.no_rank(rank))))
    }

    /// Connects to a rank for which a receive has waited for some time without a connection, if
    /// there is one. Otherwise, returns the time at which the next one is due. A thread that waits
    /// until a deadline does not connect for longer, or at least [`DIAL_TIME`].
    pub(super) fn connect_wanted(&self, until: Deadline) -> Option<Deadline> {
        if !self.inbox.flags().has_wanted_lines() {
            return Some(Deadline::NEVER);
        }
        let next = {
            let mut state = self.inbox.lock();
            state.peers.wanted().next_due()
        };
        match next {
            Ok(rank) => {
                let is_too_early = until.left().is_some_and(|left| left < DIAL_TIME);
                let until = if is_too_early {
                    Deadline::after(DIAL_TIME)
                } else {
                    until
                };
                // If this fails, the rank is gone, which ends the receive.
                if !self.reach(rank, || until) {
                    let mut state = self.inbox.lock();
                    // The time of this attempt was limited, so the connection is still wanted.
                    state.peers.wanted().want(rank);
                }
                None
            }
            Err(due) => Some(due),
        }
    }

    /// Returns the other ranks that messages may have been exchanged with. Waits until no
    /// connection is being opened, at most until the deadline.
    pub(super) fn reached(&self, until: Deadline) -> Vec<u32> {
        // A connection that is being opened counts, too: its rank would miss the goodbye otherwise.
        if let Some(dialer) = &self.dialer {
            dialer.wait_until_idle(until);
        }
        let own = self.inbox.rank;
        let threads = self.threads.iter().copied().filter(|rank| *rank != own);
        threads.chain(self.lines.iter()).collect()
    }

    /// Returns true if there may be several connections, so that a thread that blocks on one would
    /// delay the others.
    #[inline]
    pub(super) fn has_many_lines(&self) -> bool {
        self.remotes > 1
    }

    /// Returns the connections that exist.
    #[inline]
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter_map(|rank| self.line(rank))
    }

    /// Returns true if there are ranks that are reached over connections, which may not exist yet.
    pub(super) fn has_lines(&self) -> bool {
        self.remotes > 0
    }

    /// Returns true if there are other ranks whose messages arrive through queues.
    pub(super) fn has_threads(&self) -> bool {
        self.threads.len() > 1
    }

    /// Returns true if the queue of any thread seems to have a message.
    #[inline]
    pub(super) fn has_any_queued(&self) -> bool {
        let mut threads = self.threads.iter();
        threads.any(|rank| self.inbox.has_queued(*rank))
    }

    /// Returns true if there is never more than one connection.
    pub(super) fn has_one_line(&self) -> bool {
        self.remotes == 1
    }

    /// Returns the connection to a rank, if there is one.
    #[inline]
    pub(super) fn line(&self, rank: u32) -> Option<&Line> {
        match self.paths.get(rank as usize) {
            Some(Path::Remote(place)) => place.get(),
            _ => None,
        }
    }

    /// Runs `work` on the state, and does the recorded work after releasing the lock.
    #[inline]
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R) -> R {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        let result = work(&mut state, &mut deferred);
        state.release();
        if !deferred.is_empty() {
            self.carry_out(deferred);
        }
        // Also without deferred work of this call, because other threads record work for whichever
        // thread comes next.
        self.finish_pending();
        result
    }

    /// Does the work that other threads left to this rank: ends the operations of communicators
    /// that were revoked, and sends deferred frames. Called without a lock whenever a thread drives
    /// the connections or changes the state, so that no operation returns the error of a revocation
    /// that is not passed on.
    #[inline]
    pub(super) fn finish_pending(&self) {
        if self.inbox.flags().has_pending() {
            self.finish_pending_work();
        }
    }

    #[cold]
    fn finish_pending_work(&self) {
        let (frames, revoked) = {
            let mut state = self.inbox.lock();
            let frames = state.peers.take_deferred();
            (frames, state.contexts.take_open_revocations())
        };
        // Sent without the lock of the inbox, because a direction of an endpoint is locked before
        // it.
        for (to, frame) in frames {
            if let Some(line) = self.line(to) {
                line.send_frame(frame);
            }
        }
        if !revoked.is_empty() {
            self.end_revoked(revoked);
        }
    }

    /// Does the work that was recorded under the lock of this rank's inbox.
    pub(super) fn carry_out(&self, deferred: DeferredWork) {
        self.inbox.carry_out(deferred, |task| {
            if let DeferredTask::SendFrame { to, frame } = task {
                if let Some(line) = self.line(to) {
                    line.send_frame(frame);
                }
            }
        });
    }

    /// Drains the queues of threads, and drives all connections as far as possible without
    /// blocking.
    #[inline]
    pub(super) fn drive(&self) {
        self.take_in();
        self.drive_lines();
        self.finish_pending();
    }

    /// Drains the queues of threads, and runs `work` on the state.
    #[inline]
    pub(super) fn take_in_for<R>(&self, work: impl FnOnce(&mut RankState) -> R) -> R {
        if !self.has_any_queued() {
            return work(&mut self.inbox.lock());
        }
        self.with(|state, deferred| {
            state.drain_queues(deferred);
            work(state)
        })
    }

    /// Drains the queues of threads.
    #[inline]
    pub(super) fn take_in(&self) {
        if self.has_any_queued() {
            self.with(|state, deferred| state.drain_queues(deferred));
        }
    }

    /// Drives all connections as far as possible without blocking.
    #[inline]
    pub(super) fn drive_lines(&self) {
        // A connection whose pool had no room is not driven until it is told to look again.
        if self.inbox.take_starved() {
            self.lines()
                .for_each(|line| line.endpoint.shared().resume());
        }
        self.lines().for_each(|line| line.endpoint.shared().drive());
    }

    /// Like [`drive`](Self::drive), and wakes `task` when a connection can make progress again.
    /// Tasks have no time limit, so they connect at once to the ranks of their receives.
    pub(super) fn drive_for_task(&self, task: &Waker) {
        // A task does not come back by itself after the delay that threads grant, so it connects
        // now.
        while self.inbox.flags().has_wanted_lines() {
            let next = {
                let mut state = self.inbox.lock();
                state.peers.wanted().pop()
            };
            // If this fails, the rank is gone, which ends the receive.
            let _ = next.map(|rank| self.link(rank));
        }
        self.drive();
        for line in self.lines() {
            let shared = line.endpoint.shared();
            if !shared.progress(Half::In, Some(task), None) {
                // The receive direction has ended, or waits for a buffer. Posted sends must still
                // make progress.
                shared.progress(Half::Out, Some(task), None);
            }
        }
    }

    /// Blocks until `attempt` returns a value. Returns `None` if the deadline passes.
    #[inline]
    pub(super) fn wait<R>(
        &self,
        deadline: impl FnOnce() -> Deadline,
        attempt: impl FnMut(&mut RankState) -> Option<R>,
    ) -> Option<R> {
        self.wait_spun(None, deadline, attempt)
    }

    /// Like [`wait`](Self::wait), continuing with the spin budget that the caller has left in
    /// `spun`.
    #[inline]
    pub(super) fn wait_spun<R>(
        &self,
        spun: Option<Spin>,
        deadline: impl FnOnce() -> Deadline,
        mut attempt: impl FnMut(&mut RankState) -> Option<R>,
    ) -> Option<R> {
        self.wait_unlocked(spun, deadline, || attempt(&mut self.inbox.lock()))
    }

    /// Like [`wait_spun`](Self::wait_spun), for an `attempt` that takes the lock itself. Unless the
    /// first attempt succeeds, the collective operations that this thread has posted advance.
    pub(super) fn wait_unlocked<R>(
        &self,
        spun: Option<Spin>,
        deadline: impl FnOnce() -> Deadline,
        mut attempt: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        let inbox = &*self.inbox;
        // Read before the attempt, so that a change after the attempt is noticed.
        let seen = inbox.epoch();
        if let Some(answer) = attempt() {
            self.attend();
            return Some(answer);
        }
        let _waits = inbox.note_waiting();
        // The operations of this thread must go on while it waits, because other ranks may wait for
        // their messages.
        progress::advance_all();
        let until = deadline();
        // The fast path of a receive has spun already. Only the rest of its budget is left.
        let mut spin = spun.unwrap_or_else(|| inbox.begin_spin(until));
        let mut seen = seen;
        loop {
            self.drive();
            if inbox.epoch() != seen {
                seen = inbox.epoch();
                progress::advance_all();
                if let Some(answer) = attempt() {
                    // After a sleep the next message may find the thread asleep, too, so senders
                    // should go on to notify it.
                    if !spin.was_in_vain() {
                        self.attend();
                    }
                    inbox.end_spin(spin);
                    return Some(answer);
                }
            } else if spin.may_continue() {
            } else {
                let due = self.connect_wanted(until);
                if until.has_passed() {
                    // A change may have come since the last attempt.
                    return attempt();
                }
                if let Some(due) = due {
                    // With the epoch of the last attempt, so that a change since then ends the
                    // sleep at once.
                    self.sleep(seen, until.or_sooner(due));
                    spin.has_slept();
                }
            }
        }
    }

    /// Allows senders to use the queues again, because this thread got its message without
    /// sleeping.
    #[inline]
    fn attend(&self) {
        // The lock is taken only if the flag has to change, which is once after each sleep.
        if self.has_threads() && !self.inbox.attention.is_given() {
            self.inbox.attend(&self.inbox.lock());
        }
    }

    fn sleep(&self, seen: u32, until: Deadline) {
        let arm = |bell: &Bell| {
            for line in self.lines() {
                let shared = line.endpoint.shared();
                let is_left = shared.progress(Half::In, Some(bell.waker()), Some(bell.watcher()));
                if !is_left {
                    // The receive direction has ended, or waits for a buffer. Posted sends must
                    // still make progress.
                    shared.progress(Half::Out, Some(bell.waker()), Some(bell.watcher()));
                }
            }
        };
        let disarm = |bell: &Bell| {
            self.lines()
                .for_each(|line| line.endpoint.shared().forget_waker(bell.waker()));
        };
        self.inbox.sleep(seen, until, arm, disarm);
    }

    /// Blocks until no message waits for credit. Returns false if the deadline passes before that.
    pub(super) fn wait_for_credit(&self, deadline: Deadline) -> bool {
        let has_credit = || {
            let mut lines = self.lines();
            let waits = lines.any(|line| line.endpoint.shared().waits_for_credit());
            (!waits).then_some(())
        };
        self.wait_unlocked(None, || deadline, has_credit).is_some()
    }

    /// Ends sending on all connections. Returns the first error.
    pub(super) fn finish_lines(&self) -> Result<(), Error> {
        let mut result = Ok(());
        for rank in self.lines.iter() {
            match self
                .line(rank)
                .map_or(Ok(()), |line| line.endpoint.finish())
            {
                // A rank that has ended its side before has received all that it waited for.
                Ok(()) | Err(SendError::Closed { .. } | SendError::ClosedLocally { .. }) => {}
                Err(source) => {
                    let source = Box::new(source);
                    result = result.and(Err(Error::NotSent { rank, source }));
                }
            }
        }
        result
    }

    /// Waits for the outcome of a request. Returns `None` if the deadline passes. Polls the
    /// connections at least once if the request has not ended.
    #[inline]
    pub(super) fn wait_for(
        &self,
        id: OpId,
        spun: Option<Spin>,
        deadline: Deadline,
    ) -> Option<RequestOutcome> {
        // The outcome is large: each function that returned it would copy it.
        let mut outcome = None;
        let attempt = || {
            let is_taken = self.take_in_for(|state| state.requests.move_outcome(id, &mut outcome));
            is_taken.then_some(())
        };
        self.wait_unlocked(spun, || deadline, attempt);
        outcome
    }

    /// Waits for the outcome of a request that needs no further action of the caller.
    pub(super) fn outcome(&self, id: OpId) -> RequestOutcome {
        match self.wait_for(id, None, Deadline::NEVER) {
            Some(outcome) => outcome,
            None => unreachable!("a wait without a deadline ends with the request"),
        }
    }

    /// Returns the time until which an operation that has reached its timeout waits for the rest of
    /// a message: a quarter of the timeout of collective operations from now on.
    pub(super) fn rest_deadline(&self) -> Deadline {
        let timeout = self.inbox.options.collective_timeout;
        Deadline::after(timeout.checked_div(4).unwrap_or(timeout))
    }

    /// Ends the connection to a rank that does not send, or take, the rest of a message in time.
    /// The memory of the message is free when its request has ended. The rank is gone from then on.
    #[cold]
    pub(super) fn sever(&self, rank: u32) {
        if let Some(line) = self.line(rank) {
            line.endpoint.close();
        }
    }

    /// Requests the withdrawal of a message that the other rank may not have received yet. The
    /// result is the outcome of the request.
    pub(super) fn cancel_send(&self, id: OpId) {
        let sending = self.inbox.lock().requests.sending(id);
        let line = sending.and_then(|sending| self.line(sending.to));
        // A message that waits for credit has not been sent.
        if line.is_some_and(|line| line.endpoint.shared().cancel_waiting(id.number())) {
            return;
        }
        self.with(|state, deferred| state.withdraw(id, deferred));
        self.take_back(id);
    }

    /// Withdraws a message that is queued at a rank of this process.
    pub(super) fn take_back(&self, id: OpId) {
        let sending = self.inbox.lock().requests.sending(id);
        // A message with an offer went over a connection, whose rank has to answer.
        let Some(sending) = sending.filter(|sending| sending.offer.is_none()) else {
            return;
        };
        if let Ok(Link::Thread(near)) = self.link(sending.to) {
            near.inbox.withdraw(self.inbox.rank, id);
        }
    }

    /// Discards a request: a receive without a message is cancelled, and a message is still sent.
    pub(super) fn forget(&self, id: OpId) {
        let dropped = self.with(|state, deferred| {
            state.cancel_receive(id, Error::Cancelled, deferred);
            let outcome = state.requests.take_outcome(id);
            // A request that has no outcome keeps its entry until it has one, because others still
            // refer to it.
            let task = match outcome {
                None => state.requests.forget(id),
                Some(_) => None,
            };
            (outcome, task)
        });
        drop(dropped);
        // A send that was forgotten has no thread that waits for it, and may still need one that
        // drives it.
        self.lines()
            .for_each(|line| line.endpoint.shared().carry_unsent());
    }
}

impl Drop for Node {
    /// Notifies the other ranks that this rank has ended.
    fn drop(&mut self) {
        // Closed first: messages that other ranks send from here on are refused.
        let rest = self.inbox.close();
        drop(rest);
        for path in &self.paths {
            if let Path::Thread(other) = path {
                self.inbox.end_for(&other.inbox);
            }
        }
        for line in self.lines() {
            // Posted messages are still sent, by a thread of the process, as long as the peer takes
            // them.
            line.endpoint.shared().abandon_posted();
        }
    }
}
