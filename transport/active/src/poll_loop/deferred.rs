//! Deferred work of a poll group: requests to be rerun, tasks, and messages that were received by
//! the group to which their connection belonged before.

use std::collections::VecDeque;
use std::sync::Arc;

use super::progress::Progress;
use super::{DeferredWork, Known, MOST, PollGuard, PollLoop, PollOutcome};
use crate::executor::Job;
use crate::link::Link;
use crate::request::{DeferredRequest, Request};
use crate::turn;
use jstream_base::RecvError;
use jstream_endpoint::queue::Done;
use jstream_endpoint::receiving::Arrived;

impl PollGuard<'_> {
    /// Queues a request for the threads that serve.
    #[cold]
    pub(crate) fn put_aside(&self, request: Request) {
        self.core.put_aside(request);
    }
}

impl Known {
    fn of(link: &Arc<Link>) -> Self {
        Self {
            id: link.id,
            link: Arc::downgrade(link),
        }
    }
}

impl PollLoop {
    pub(crate) fn run_later(&self, request: Request) {
        self.park(|work| &mut work.later, request);
        self.call();
    }

    /// Queues a request in this group, or in the group that its connection belongs to now.
    fn park(
        &self,
        queue: impl FnOnce(&mut DeferredWork) -> &mut VecDeque<DeferredRequest>,
        request: Request,
    ) {
        let link = request.link().clone();
        let parked = request.park();
        queue(&mut self.put_off.lock()).push_back(parked);
        self.follow(&link);
    }

    /// Moves deferred work to the current group of a connection. Called after queueing: the
    /// connection may have moved before, and this group may not be served any more.
    fn follow(&self, link: &Arc<Link>) {
        if link.is_in(self) {
            return;
        }
        let mut to = link.group();
        self.hand_over(link.id, &to);
        while !link.is_in(&to) {
            let next = link.group();
            to.hand_over(link.id, &next);
            to = next;
        }
    }

    /// Makes the serving threads check the deferred requests of a connection whose peer may have
    /// drained its receive side.
    #[cold]
    pub(crate) fn take_up(&self, link: &Arc<Link>) {
        let known = Known::of(link);
        let mut work = self.put_off.lock();
        let is_new = work.taken.iter().all(|other| other.id != link.id);
        if is_new {
            work.taken.push_back(known);
        }
        drop(work);
        if is_new {
            self.call();
        }
        self.follow(link);
    }

    /// Runs a request that was deferred until its peer drained its receive side. Returns true if
    /// there was a candidate.
    pub(super) fn run_taken(&self, guard: &mut PollGuard<'_>) -> bool {
        let first = self.put_off.lock().taken.pop_front();
        let Some(link) = first else {
            return false;
        };
        guard.release();
        let Some(link) = link.link.upgrade() else {
            return true;
        };
        let Some((request, is_more)) = link.next_unread() else {
            return true;
        };
        if is_more {
            link.group().take_up(&link);
        }
        Link::serve_put_off(request, self.side);
        true
    }

    /// Drops the deferred work of a connection that is gone.
    pub(super) fn purge(&self, id: u64) {
        drop(self.take_of(id));
        drop(self.take_late_of(id));
        drop(self.take_taken_of(id));
    }

    fn take_taken_of(&self, id: u64) -> Option<Known> {
        let taken = &mut self.put_off.lock().taken;
        let place = taken.iter().position(|link| link.id == id)?;
        taken.remove(place)
    }

    fn take_late_of(&self, id: u64) -> VecDeque<(Known, Arrived)> {
        let late = &mut self.put_off.lock().late;
        let (gone, rest) = late.drain(..).partition(|(link, _)| link.id == id);
        *late = rest;
        gone
    }

    /// Takes the queued requests of a connection: those to run first, and those to be rerun.
    fn take_of(&self, id: u64) -> [VecDeque<DeferredRequest>; 2] {
        let DeferredWork { aside, later, .. } = &mut *self.put_off.lock();
        [aside, later].map(|queue| {
            let (gone, rest) = queue.drain(..).partition(|parked| parked.id == id);
            *queue = rest;
            gone
        })
    }

    /// Receives the available messages and queues their requests for the serving threads, unless
    /// another thread is polling.
    pub(crate) fn look_aside(&self) {
        if self.is_elsewhere() {
            return;
        }
        let Some(mut guard) = self.try_drive(None) else {
            return;
        };
        guard.is_aside = true;
        let mut progress = Progress::default();
        for _ in 0..MOST {
            if !guard.is_held || self.put_off.lock().aside.len() >= MOST {
                break;
            }
            match self.look(&mut guard, &mut progress, None) {
                PollOutcome::Something => {}
                PollOutcome::Nothing | PollOutcome::NoRoom => break,
            }
        }
        drop(guard);
        let is_aside = !self.put_off.lock().aside.is_empty();
        if is_aside {
            // The connections do not report these requests again.
            self.call();
        }
    }

    /// Queues a task for the serving threads.
    pub(crate) fn run_here(&self, job: Job) {
        self.put_off.lock().jobs.push_back(job);
        self.call_all();
    }

    /// Queues a request to be served before all others.
    pub(crate) fn run_soon(&self, request: Request) {
        self.park(|work| &mut work.aside, request);
        self.call();
    }

    /// Runs the first queued task. Returns true if there was one.
    pub(super) fn run_job(&self, guard: &mut PollGuard<'_>) -> bool {
        let first = self.put_off.lock().jobs.pop_front();
        let Some(job) = first else {
            return false;
        };
        guard.release();
        turn::handling(self.side, || job.run());
        true
    }

    pub(super) fn put_aside(&self, mut request: Request) {
        request.wait();
        self.park(|work| &mut work.aside, request);
    }

    /// Serves the first request that was put aside. Returns true if there was one.
    pub(super) fn run_aside(&self, guard: &mut PollGuard<'_>) -> bool {
        let first = self.put_off.lock().aside.pop_front();
        let Some(parked) = first else {
            return false;
        };
        guard.release();
        if let Some(request) = parked.unpark() {
            Link::serve_put_off(request, self.side);
        }
        true
    }

    /// Moves the deferred work of a connection to its current group.
    pub(super) fn hand_over(&self, id: u64, to: &Self) {
        let [aside, later] = self.take_of(id);
        let late = self.take_late_of(id);
        let taken = self.take_taken_of(id);
        if let Some(link) = taken.and_then(|known| known.link.upgrade()) {
            to.take_up(&link);
        }
        if !aside.is_empty() || !later.is_empty() || !late.is_empty() {
            let mut work = to.put_off.lock();
            work.late.extend(late);
            work.aside.extend(aside);
            work.later.extend(later);
            drop(work);
            to.call();
        }
    }

    /// Passes a completion of this group's queue to the current group of the connection. Returns
    /// the connection if it has ended.
    pub(super) fn pass_on(&self, done: Done) -> Option<(Arc<Link>, RecvError)> {
        let Done::Received(_, receipt, endpoint) = done else {
            return None;
        };
        let link = Link::of(&endpoint)?;
        link.set_posted(self, false);
        match receipt {
            Ok(arrived) => {
                let core = link.group();
                let late = (Known::of(&link), arrived);
                core.put_off.lock().late.push_back(late);
                core.call();
                core.follow(&link);
                None
            }
            Err(missed) => match missed.error {
                RecvError::Cancelled | RecvError::NoBuffer { .. } => None,
                error => Some((link, error)),
            },
        }
    }

    /// Handles the first message that another group had received, before messages received here.
    /// Returns true if there was one.
    pub(super) fn run_late(&self, guard: &mut PollGuard<'_>) -> bool {
        let late = self.put_off.lock().late.pop_front();
        let Some((known, arrived)) = late else {
            return false;
        };
        if let Some(link) = known.link.upgrade() {
            self.deliver(link, arrived, guard);
        }
        true
    }

    /// Runs the deferred requests that are still wanted. Returns true if there were any.
    pub(super) fn run_put_off(&self, guard: &mut PollGuard<'_>) -> bool {
        let count = self.put_off.lock().later.len();
        if count == 0 {
            return false;
        }
        guard.release();
        for _ in 0..count {
            let first = self.put_off.lock().later.pop_front();
            let Some(parked) = first else {
                break;
            };
            if let Some(request) = parked.unpark() {
                Link::serve_put_off(request, self.side);
            }
        }
        true
    }
}
