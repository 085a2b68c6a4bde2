//! Deferred work of a poll group: requests to be rerun, and tasks.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use crate::executor::Job;
use crate::link::Link;
use crate::request::DeferredRequest;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// A connection with deferred work. The reference is weak, so that deferred work does not keep the
/// connection.
pub(super) struct WorkOwner {
    id: u64,
    pub(super) link: Weak<Link>,
}

impl WorkOwner {
    fn new(link: &Arc<Link>) -> Self {
        Self {
            id: link.id,
            link: Arc::downgrade(link),
        }
    }
}

/// The deferred work of a group. The summary is true if there is any.
pub(super) struct DeferredWork(PublishingLock<DeferredQueues>);

#[derive(Default)]
struct DeferredQueues {
    /// Requests received by a thread that could not serve them; they run before all others.
    urgent: VecDeque<DeferredRequest>,
    /// Requests to be rerun.
    reruns: VecDeque<DeferredRequest>,
    /// Tasks that run on the threads that serve the group.
    jobs: VecDeque<Job>,
    /// Connections whose peers may have drained enough for their deferred requests, each once.
    drained: VecDeque<WorkOwner>,
}

impl Publish for DeferredQueues {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        !self.urgent.is_empty()
            || !self.reruns.is_empty()
            || !self.jobs.is_empty()
            || !self.drained.is_empty()
    }
}

/// The deferred work of one connection.
pub(super) struct WorkOfConnection {
    urgent: VecDeque<DeferredRequest>,
    reruns: VecDeque<DeferredRequest>,
    /// Set if its peer may have drained enough for its deferred requests.
    pub(super) drained: Option<WorkOwner>,
}

impl WorkOfConnection {
    /// Returns true if there are requests.
    pub(super) fn has_requests(&self) -> bool {
        !self.urgent.is_empty() || !self.reruns.is_empty()
    }
}

impl DeferredWork {
    pub(super) fn new() -> Self {
        Self(PublishingLock::new(DeferredQueues::default(), ()))
    }

    /// Returns true if there is deferred work.
    pub(super) fn is_pending(&self) -> bool {
        self.0.summary().get_acquire()
    }

    pub(super) fn push_urgent(&self, request: DeferredRequest) {
        self.0.lock().urgent.push_back(request);
    }

    pub(super) fn push_rerun(&self, request: DeferredRequest) {
        self.0.lock().reruns.push_back(request);
    }

    pub(super) fn push_job(&self, job: Job) {
        self.0.lock().jobs.push_back(job);
    }

    /// Adds a connection whose peer may have drained its receive side. Returns false if it is
    /// queued already.
    pub(super) fn push_drained(&self, link: &Arc<Link>) -> bool {
        let owner = WorkOwner::new(link);
        let mut queues = self.0.lock();
        let is_new = queues.drained.iter().all(|other| other.id != link.id);
        if is_new {
            queues.drained.push_back(owner);
        }
        is_new
    }

    pub(super) fn pop_urgent(&self) -> Option<DeferredRequest> {
        self.0.lock().urgent.pop_front()
    }

    pub(super) fn pop_rerun(&self) -> Option<DeferredRequest> {
        self.0.lock().reruns.pop_front()
    }

    pub(super) fn pop_job(&self) -> Option<Job> {
        self.0.lock().jobs.pop_front()
    }

    pub(super) fn pop_drained(&self) -> Option<WorkOwner> {
        self.0.lock().drained.pop_front()
    }

    pub(super) fn count_urgent(&self) -> usize {
        self.0.lock().urgent.len()
    }

    pub(super) fn count_reruns(&self) -> usize {
        self.0.lock().reruns.len()
    }

    /// Takes the work of a connection.
    pub(super) fn take_all(&self, id: u64) -> WorkOfConnection {
        let mut queues = self.0.lock();
        let urgent = split(&mut queues.urgent, |request| request.id == id);
        let reruns = split(&mut queues.reruns, |request| request.id == id);
        let index = queues.drained.iter().position(|owner| owner.id == id);
        let drained = index.and_then(|index| queues.drained.remove(index));
        WorkOfConnection {
            urgent,
            reruns,
            drained,
        }
    }

    /// Adds the requests of a connection.
    pub(super) fn append(&self, work: WorkOfConnection) {
        let mut queues = self.0.lock();
        queues.urgent.extend(work.urgent);
        queues.reruns.extend(work.reruns);
    }
}

/// Removes the elements that `is_taken` selects from a queue, and returns them.
fn split<T>(queue: &mut VecDeque<T>, is_taken: impl Fn(&T) -> bool) -> VecDeque<T> {
    let (taken, rest) = queue.drain(..).partition(is_taken);
    *queue = rest;
    taken
}
