//! Deferred work of a poll group at work, and connections that move between groups.
//!
//! A connection may move while a thread defers work of it. So a thread that has queued work passes
//! it on if the connection belongs to another group by then.

use std::sync::Arc;

use super::progress::Progress;
use super::rotation::DeferredTurn;
use super::{MOST, PollGuard, PollLoop, PollOutcome};
use crate::executor::Job;
use crate::link::Link;
use crate::request::Request;
use crate::turn;
use jstream_sync::callbacks::Deferral;

impl PollGuard<'_> {
    /// Queues a request for the threads that serve.
    pub(crate) fn defer(&self, request: Request) {
        self.poll_loop.defer(request);
    }
}

impl PollLoop {
    /// Adds a connection.
    pub(crate) fn enter(&self, link: &Arc<Link>) {
        self.members.add(link);
        self.call();
    }

    /// Removes a connection.
    pub(crate) fn remove(&self, id: u64) {
        self.members.remove(id);
        self.call();
    }

    /// Removes a connection that was dropped, and its deferred work.
    pub(crate) fn remove_dropped(&self, id: u64) {
        if self.members.contains(id) {
            self.remove(id);
        }
        drop(self.deferred.take_all(id));
    }

    /// Drops the connections that the group keeps alive.
    pub(crate) fn drop_kept(&self) {
        self.members.drop_kept();
    }

    /// Returns true if the group has no members. A connection that was dropped but not removed yet
    /// counts.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Moves a connection to this group. If it `stays`, the group keeps it alive although the
    /// program may hold no handle of it.
    pub(crate) fn adopt(self: &Arc<Self>, link: &Arc<Link>, stays: bool) {
        // Callbacks may move connections, too.
        let deferral = Deferral::begin();
        // Two threads may move the connection. The lock also keeps a receive from being posted in
        // the group that it leaves.
        let moving = link.membership().lock_moves();
        let Some(before) = link.membership().change(self) else {
            return;
        };
        before.remove(link.id);
        if stays && !link.has_ended() {
            self.members.keep(link);
        }
        self.enter(link);
        // Deferred requests move with the connection.
        before.hand_over(link.id, self);
        // The new group polls the connection until it arms it itself, which `moving` prevents for
        // now. A report of the old queue that was not taken is void. The old queue is disarmed even
        // if its report was taken: it still knows the connection, and would disarm it when it is
        // dropped, after the new group has armed it.
        if let Some(queue) = before.queue.get() {
            queue.disarm(link.endpoint());
        }
        // The connection may have ended meanwhile, and then its end was reported to the old group.
        if link.has_ended() {
            self.remove(link.id);
        }
        drop(moving);
        drop(deferral);
    }

    /// Moves the deferred work of a connection to its current group.
    fn hand_over(&self, id: u64, to: &Self) {
        let mut work = self.deferred.take_all(id);
        let drained = work.drained.take();
        if let Some(link) = drained.and_then(|owner| owner.link.upgrade()) {
            to.run_deferred_of(&link);
        }
        if work.has_requests() {
            to.deferred.append(work);
            to.call();
        }
    }

    /// Moves deferred work to the current group of a connection. Called after queueing: the
    /// connection may have moved before, and this group may not be served any more.
    fn follow(&self, link: &Arc<Link>) {
        if link.membership().is_in(self) {
            return;
        }
        let mut to = link.membership().group();
        self.hand_over(link.id, &to);
        // The connection may move again while its work is passed on.
        while !link.membership().is_in(&to) {
            let next = link.membership().group();
            to.hand_over(link.id, &next);
            to = next;
        }
    }

    /// Queues a request to be rerun a little later, in this group or in the group that its
    /// connection belongs to now.
    pub(crate) fn rerun(&self, request: Request) {
        let link = request.link().clone();
        self.deferred.push_rerun(request.park());
        // Checked after the request is queued: either the thread that moves the connection takes
        // the request along, or this one sees the move.
        self.follow(&link);
        self.call();
    }

    /// Queues a request to be served before all others.
    pub(crate) fn run_next(&self, request: Request) {
        let link = request.link().clone();
        self.deferred.push_urgent(request.park());
        self.follow(&link);
        self.call();
    }

    fn defer(&self, mut request: Request) {
        request.wait();
        let link = request.link().clone();
        self.deferred.push_urgent(request.park());
        self.follow(&link);
    }

    /// Queues a task for the serving threads.
    pub(crate) fn run_job(&self, job: Job) {
        self.deferred.push_job(job);
        // Any thread may be the one that can run it: one that sleeps, or one on standby.
        self.call_all();
    }

    /// Makes the serving threads check the deferred requests of a connection whose peer may have
    /// drained its receive side.
    pub(crate) fn run_deferred_of(&self, link: &Arc<Link>) {
        if self.deferred.push_drained(link) {
            self.call();
        }
        self.follow(link);
    }

    /// Receives the available messages and queues their requests for the serving threads, unless
    /// another thread is polling. Returns true if work waits for a thread that serves.
    pub(crate) fn poll_deferring(&self) -> bool {
        if self.is_elsewhere() {
            return false;
        }
        // The thread that polls now also receives what this caller is looking for.
        let Some(mut guard) = self.try_drive(None) else {
            return false;
        };
        guard.defers_requests = true;
        let mut progress = Progress::default();
        for _ in 0..MOST {
            // The number is limited, because the caller has other work than to receive for the
            // group.
            if !guard.is_held || self.deferred.count_urgent() >= MOST {
                break;
            }
            match self.poll_once(&mut guard, &mut progress) {
                PollOutcome::Something => {}
                PollOutcome::Nothing | PollOutcome::NoRoom => break,
            }
        }
        drop(guard);
        if self.deferred.count_urgent() > 0 {
            // The connections do not report these requests again.
            self.call();
        }
        self.deferred.is_pending()
    }

    /// Handles a deferred item that is due before the next message. Returns true if there was one.
    pub(super) fn run_due(&self, guard: &mut PollGuard<'_>) -> bool {
        if self.serve_urgent(guard) {
            return true;
        }
        match self.rotation.deferred_turn() {
            DeferredTurn::Job => self.run_next_job(guard),
            DeferredTurn::Drained => self.serve_drained(guard),
            DeferredTurn::DrainedAndReruns => self.serve_drained(guard) || self.serve_reruns(guard),
        }
    }

    /// Handles deferred items if there are no messages. Returns true if there were any.
    pub(super) fn run_idle(&self, guard: &mut PollGuard<'_>) -> bool {
        self.run_next_job(guard) || self.serve_drained(guard) || self.serve_reruns(guard)
    }

    /// Serves the first request that was received by a thread which could not serve it. Returns
    /// true if there was one.
    fn serve_urgent(&self, guard: &mut PollGuard<'_>) -> bool {
        let Some(parked) = self.deferred.pop_urgent() else {
            return false;
        };
        // Taking the request out may drop it, and with it values of the program.
        guard.release();
        if let Some(request) = parked.unpark() {
            Link::serve_deferred(request, self.side);
        }
        true
    }

    /// Runs the first queued task. Returns true if there was one.
    fn run_next_job(&self, guard: &mut PollGuard<'_>) -> bool {
        let Some(job) = self.deferred.pop_job() else {
            return false;
        };
        guard.release();
        turn::handling(self.side, || job.run());
        true
    }

    /// Serves a request that was deferred until its peer drained its receive side. Returns true if
    /// there was a candidate.
    fn serve_drained(&self, guard: &mut PollGuard<'_>) -> bool {
        let Some(owner) = self.deferred.pop_drained() else {
            return false;
        };
        guard.release();
        let Some(link) = owner.link.upgrade() else {
            return true;
        };
        let Some((request, is_more)) = link.deferred().pop(&link) else {
            return true;
        };
        // Queued before this request runs, so that other threads can serve the next one meanwhile.
        if is_more {
            link.membership().group().run_deferred_of(&link);
        }
        Link::serve_deferred(request, self.side);
        true
    }

    /// Reruns the requests that are still wanted. Returns true if there were any.
    fn serve_reruns(&self, guard: &mut PollGuard<'_>) -> bool {
        // Counted first: a request that wants to run once more is queued behind them, and has to
        // wait for the next turn.
        let count = self.deferred.count_reruns();
        if count == 0 {
            return false;
        }
        guard.release();
        for _ in 0..count {
            let Some(parked) = self.deferred.pop_rerun() else {
                break;
            };
            if let Some(request) = parked.unpark() {
                Link::serve_deferred(request, self.side);
            }
        }
        true
    }
}
