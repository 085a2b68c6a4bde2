//! A rank: its inbox, and the paths to other ranks. Waiting threads drive the connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::Waker;

use super::bell::Bell;
use super::error::Error;
use super::inbox::Inbox;
use super::line::Line;
use super::local::Near;
use super::progress;
use super::request::RequestOutcome;
use super::state::RankState;
use super::work_queue::{DeferredTask, DeferredWork};
use jstream_base::SendError;
use jstream_device::deadline::Deadline;
use jstream_endpoint::codec_cache::CodecCache;
use jstream_endpoint::ops::OpId;
use jstream_endpoint::shared::Half;
use jstream_endpoint::spin::Spin;

/// The state that all handles of a rank share.
pub(super) struct Node {
    pub(super) inbox: Arc<Inbox>,
    /// Paths to all ranks, by rank.
    links: Vec<Link>,
    /// Ranks that are reached over a connection.
    lines: Vec<u32>,
    /// Ranks of this process.
    threads: Vec<u32>,
    /// Number of the next context.
    pub(super) contexts: AtomicU32,
    /// The index after the request that ended last when several were waited for.
    pub(super) turn: AtomicUsize,
    /// Cache of readers and writers for objects.
    pub(super) codecs: CodecCache,
}

/// The path to a rank.
pub(super) enum Link {
    Nobody,
    /// A rank of this process, possibly this rank itself.
    Thread(Near),
    Line(Line),
}

impl Node {
    pub(super) fn new(inbox: Arc<Inbox>, links: Vec<Link>) -> Self {
        let ranks = |is_meant: fn(&Link) -> bool| {
            let links = (0..).zip(&links).filter(|(_, link)| is_meant(link));
            links.map(|(rank, _)| rank).collect()
        };
        Self {
            lines: ranks(|link| matches!(link, Link::Line(_))),
            threads: ranks(|link| matches!(link, Link::Thread(_))),
            inbox,
            links,
            contexts: AtomicU32::new(2),
            turn: AtomicUsize::new(0),
            codecs: CodecCache::default(),
        }
    }

    /// Returns the path to a rank.
    #[inline]
    pub(super) fn link(&self, rank: u32) -> Result<&Link, Error> {
        match self.links.get(rank as usize) {
            Some(Link::Nobody) | None => Err(Error::NoRank {
                rank,
                size: self.inbox.size,
            }),
            Some(link) => Ok(link),
        }
    }

    /// Returns true if there are several connections, so that a thread that blocks on one would
    /// delay the others.
    #[inline]
    pub(super) fn has_many_lines(&self) -> bool {
        self.lines.len() > 1
    }

    #[inline]
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        let links = self.lines.iter();
        links.filter_map(|rank| match self.links.get(*rank as usize) {
            Some(Link::Line(line)) => Some(line),
            _ => None,
        })
    }

    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
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

    pub(super) fn has_one_line(&self) -> bool {
        self.lines.len() == 1
    }

    /// Returns the connection to a rank, if there is one.
    #[inline]
    pub(super) fn line(&self, rank: u32) -> Option<&Line> {
        match self.links.get(rank as usize) {
            Some(Link::Line(line)) => Some(line),
            _ => None,
        }
    }

    /// Runs `work` on the state, and does the recorded work after releasing the lock.
    #[inline]
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R) -> R {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        let result = work(&mut state, &mut deferred);
        self.inbox.leave(state);
        if !deferred.is_empty() {
            self.carry_out(deferred);
        }
        result
    }

    /// Does the work that was recorded under the lock of this rank's inbox.
    pub(super) fn carry_out(&self, deferred: DeferredWork) {
        self.inbox.carry_out(deferred, |task| {
            if let DeferredTask::Say { to, frame } = task {
                if let Some(line) = self.line(to) {
                    line.say(frame);
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
    }

    /// Drains the queues of threads, and runs `work` on the state.
    #[inline]
    pub(super) fn take_in_for<R>(&self, work: impl FnOnce(&mut RankState) -> R) -> R {
        if !self.has_any_queued() {
            return work(&mut self.inbox.lock());
        }
        self.with(|state, deferred| {
            self.inbox.take_in_all(state, deferred);
            work(state)
        })
    }

    /// Drains the queues of threads.
    #[inline]
    pub(super) fn take_in(&self) {
        if self.has_any_queued() {
            self.with(|state, deferred| self.inbox.take_in_all(state, deferred));
        }
    }

    /// Drives all connections as far as possible without blocking.
    #[inline]
    pub(super) fn drive_lines(&self) {
        if self.inbox.take_starved() {
            self.lines()
                .for_each(|line| line.endpoint.shared().resume());
        }
        self.lines().for_each(|line| line.endpoint.shared().drive());
    }

    /// Like [`drive`](Self::drive), and wakes `task` when a connection can make progress again.
    pub(super) fn drive_for_task(&self, task: &Waker) {
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
        let seen = inbox.epoch();
        if let Some(answer) = attempt() {
            self.attend();
            return Some(answer);
        }
        let _waits = inbox.note_waiting();
        progress::advance_all();
        let until = deadline();
        let habit = inbox.habit.load(Ordering::Relaxed);
        let mut spin = spun.unwrap_or_else(|| Spin::begin(inbox.options.spin, habit, until));
        let mut seen = seen;
        loop {
            self.drive();
            if inbox.epoch() != seen {
                seen = inbox.epoch();
                progress::advance_all();
                if let Some(answer) = attempt() {
                    if !spin.was_in_vain() {
                        self.attend();
                    }
                    let mut habit = habit;
                    spin.end(&mut habit);
                    inbox.habit.store(habit, Ordering::Relaxed);
                    return Some(answer);
                }
            } else if spin.again() {
            } else if until.has_passed() {
                return attempt();
            } else {
                self.sleep(seen, until);
                spin.has_slept();
            }
        }
    }

    /// Allows senders to use the queues again, because this thread got its message without
    /// sleeping.
    #[inline]
    fn attend(&self) {
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

    /// Ends sending on all connections.
    pub(super) fn finish_lines(&self) -> Result<(), Error> {
        for (rank, link) in (0..).zip(&self.links) {
            if let Link::Line(line) = link {
                match line.endpoint.finish() {
                    Ok(()) | Err(SendError::Closed { .. } | SendError::ClosedLocally { .. }) => {}
                    Err(source) => {
                        let source = Box::new(source);
                        return Err(Error::NotSent { rank, source });
                    }
                }
            }
        }
        Ok(())
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
        if let Some(outcome) = self.take_in_for(|state| state.take_outcome(id)) {
            self.attend();
            return Some(outcome);
        }
        self.wait_spun(spun, || deadline, |state| state.take_outcome(id))
    }

    /// Requests the withdrawal of a message that the other rank may not have received yet. The
    /// result is the outcome of the request.
    pub(super) fn cancel_send(&self, id: OpId) {
        let sends = {
            let state = self.inbox.lock();
            state.requests.get(id).and_then(|request| request.sends)
        };
        let line = sends.and_then(|sends| self.line(sends.to));
        // A message that waits for credit has not been sent.
        if line.is_some_and(|line| line.endpoint.shared().cancel_waiting(id.number())) {
            return;
        }
        self.with(|state, deferred| state.withdraw(id, deferred));
        self.take_back(id);
    }

    /// Discards a request: a receive without a message is cancelled, and a message is still sent.
    pub(super) fn forget(&self, id: OpId) {
        let dropped = self.with(|state, deferred| {
            state.cancel(id, Error::Cancelled, deferred);
            let outcome = state.take_outcome(id);
            if outcome.is_none() {
                state.forget(id);
            }
            outcome
        });
        drop(dropped);
        self.lines()
            .for_each(|line| line.endpoint.shared().carry_unsent());
    }
}

impl Drop for Node {
    /// Notifies the other ranks that this rank has ended.
    fn drop(&mut self) {
        let rest = self.inbox.close();
        drop(rest);
        for link in &self.links {
            match link {
                Link::Thread(other) => self.inbox.end_for(&other.inbox),
                Link::Line(line) => line.endpoint.shared().abandon_posted(),
                Link::Nobody => {}
            }
        }
    }
}
