//! Requests that have not ended, or whose outcome was not taken.

use std::task::Waker;

use jstream::buffer::EmptyBuffer;

use super::communicator::COLLECTIVE;
use super::contexts::Contexts;
use super::error::{ElementName, Error};
use super::layout::runs::Runs;
use super::outcome::RequestOutcome;
use super::table::Number;
use super::waiters::Waiters;
use jstream_endpoint::ops::{OpId, Ops};
use jstream_matching::{Pattern, ReceiveId};
use jstream_sync::callbacks;

/// The destination of a received message.
pub(super) enum ReceiveTarget {
    /// The buffer in which the message arrives.
    Pool,
    /// This jbuf, or the buffer in which the message arrives.
    Jbuf(EmptyBuffer),
    /// This jbuf, which is borrowed memory of a waiting thread.
    Memory(EmptyBuffer),
    /// The selected parts of this jbuf, which is borrowed memory of a waiting thread, or the buffer
    /// in which the message arrives.
    Scattered {
        memory: EmptyBuffer,
        runs: Box<Runs>,
        /// Number of bytes of all runs.
        capacity: usize,
    },
}

impl ReceiveTarget {
    fn capacity(&self) -> Option<usize> {
        match self {
            Self::Pool => None,
            Self::Jbuf(empty) | Self::Memory(empty) => Some(empty.capacity()),
            Self::Scattered { capacity, .. } => Some(*capacity),
        }
    }
}

/// The requests of a rank.
///
/// INVARIANT: a request has no outcome before the jbuf of its [`ReceiveTarget`], and every handle
/// that this jbuf is turned into, is dropped or is part of the outcome. The same holds for the
/// message that it sends. `lent_memory` relies on this.
///
/// A request that has an outcome is in no queue of the matcher, requests no payload, and has no
/// task.
#[derive(Default)]
pub(super) struct Requests {
    table: Ops<RankRequest>,
    /// Number of requests that have a task.
    tasks: u32,
}

/// A request.
struct RankRequest {
    target: ReceiveTarget,
    /// The context of the message.
    context: u32,
    /// The messages that a receive was posted for, unless it was posted for a claimed one.
    pattern: Option<Pattern>,
    capacity: Option<usize>,
    /// The expected element type; bytes accept any type.
    expected: ElementName,
    /// The entry in the matcher, while the receive is queued there.
    posted: Option<ReceiveId>,
    /// The rank from which the payload was requested, and the number of that request.
    want: Option<(u32, Number)>,
    outcome: Option<RequestOutcome>,
    /// The waker of the task that waits for it.
    task: Option<Waker>,
    /// True if the outcome is discarded.
    is_forgotten: bool,
    /// For a send: the data needed to cancel it.
    sending: Option<Sending>,
}

/// The message that a request sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sending {
    pub(super) to: u32,
    /// The number of the message at the peer, if the peer may be asked to withdraw it.
    pub(super) offer: Option<Number>,
}

impl Requests {
    /// Adds a receive. It has a pattern unless it is posted for a claimed message.
    pub(super) fn insert_receive(
        &mut self,
        context: u32,
        pattern: Option<Pattern>,
        target: ReceiveTarget,
        expected: ElementName,
    ) -> OpId {
        self.table.insert(RankRequest {
            pattern,
            ..RankRequest::new(context, target, expected)
        })
    }

    /// Adds a send to the rank `to`.
    pub(super) fn insert_send(&mut self, context: u32, to: u32) -> OpId {
        self.table.insert(RankRequest {
            sending: Some(Sending { to, offer: None }),
            ..RankRequest::new(context, ReceiveTarget::Pool, ElementName::BYTES)
        })
    }

    /// Records the entry in the matcher of a receive that is queued there.
    #[inline]
    pub(super) fn set_posted(&mut self, id: OpId, posted: ReceiveId) {
        if let Some(request) = self.table.get_mut(id) {
            request.posted = Some(posted);
        }
    }

    /// Takes the entry in the matcher of a receive that is queued there.
    pub(super) fn take_posted(&mut self, id: OpId) -> Option<ReceiveId> {
        self.table.get_mut(id)?.posted.take()
    }

    /// Records that a message has matched a receive. Returns its element type and its capacity,
    /// or `None` if there is no such receive.
    #[inline]
    pub(super) fn set_matched(&mut self, id: OpId) -> Option<(ElementName, Option<usize>)> {
        let request = self.table.get_mut(id)?;
        request.posted = None;
        Some((request.expected, request.capacity))
    }

    /// Returns the context of the message of a request.
    pub(super) fn context(&self, id: OpId) -> Option<u32> {
        Some(self.table.get(id)?.context)
    }

    /// Records the request for the payload of a receive.
    pub(super) fn set_want(&mut self, id: OpId, source: u32, want: Number) {
        if let Some(request) = self.table.get_mut(id) {
            request.want = Some((source, want));
        }
    }

    /// Takes the request for the payload of a receive.
    pub(super) fn take_want(&mut self, id: OpId) -> Option<(u32, Number)> {
        self.table.get_mut(id)?.want.take()
    }

    /// Returns the message that a request sends.
    pub(super) fn sending(&self, id: OpId) -> Option<Sending> {
        self.table.get(id)?.sending
    }

    /// Records the number of a message that a request sends, or that it has none any more.
    pub(super) fn set_offer(&mut self, id: OpId, offer: Option<Number>) {
        let request = self.table.get_mut(id);
        if let Some(sending) = request.and_then(|request| request.sending.as_mut()) {
            sending.offer = offer;
        }
    }

    /// Takes the jbuf of a receive, if it is still unused. A message with a layout arrives in
    /// another buffer.
    #[inline]
    pub(super) fn take_jbuf(&mut self, id: OpId) -> Option<EmptyBuffer> {
        self.table.get_mut(id)?.take_jbuf()
    }

    /// Takes the borrowed memory that the message of a receive has to be copied to.
    #[inline]
    pub(super) fn take_memory(&mut self, id: OpId) -> Option<EmptyBuffer> {
        let request = self.table.get_mut(id)?;
        match request.target {
            ReceiveTarget::Memory(_) => request.take_jbuf(),
            ReceiveTarget::Pool | ReceiveTarget::Jbuf(_) | ReceiveTarget::Scattered { .. } => None,
        }
    }

    /// Takes the destination of a message that is still in the memory of its sender: a jbuf of the
    /// receive, and the parts of it to copy to unless it is the front.
    pub(super) fn take_target(&mut self, id: OpId) -> (Option<EmptyBuffer>, Option<Box<Runs>>) {
        let Some(request) = self.table.get_mut(id) else {
            return (None, None);
        };
        match std::mem::replace(&mut request.target, ReceiveTarget::Pool) {
            ReceiveTarget::Pool => (None, None),
            ReceiveTarget::Jbuf(empty) | ReceiveTarget::Memory(empty) => (Some(empty), None),
            ReceiveTarget::Scattered { memory, runs, .. } => (Some(memory), Some(runs)),
        }
    }

    /// Ends a request. Returns values without an owner.
    ///
    /// The error of a cancelled request is that of its communicator, if that was revoked.
    #[must_use = "is dropped without the lock"]
    pub(super) fn complete(
        &mut self,
        id: OpId,
        mut outcome: RequestOutcome,
        contexts: &Contexts,
        waiters: &mut Waiters,
    ) -> Option<RequestOutcome> {
        let Some(request) = self.table.get_mut(id) else {
            return Some(outcome);
        };
        if request.outcome.is_some() {
            // The rank has given up the message before.
            return Some(outcome);
        }
        request.posted = None;
        request.want = None;
        // The memory of the receive returns with the outcome, whatever has happened.
        let jbuf = request.take_jbuf();
        // The operations of a revoked communicator are cancelled. The caller is to learn why.
        if let Err(Error::Cancelled) = outcome.result {
            if let Some(error) = contexts.revocation(request.context) {
                outcome.result = Err(error);
            }
        }
        if outcome.empty.is_none() {
            outcome.empty = jbuf;
        }
        waiters.notify();
        if request.is_forgotten {
            self.table.end(id);
            return Some(outcome);
        }
        request.outcome = Some(outcome);
        if let Some(task) = request.task.take() {
            self.tasks = self.tasks.saturating_sub(1);
            callbacks::wake(task);
        }
        None
    }

    /// Returns true if a request has ended, or its outcome was taken.
    #[inline]
    pub(super) fn has_ended(&self, id: OpId) -> bool {
        let request = self.table.get(id);
        request.is_none_or(|request| request.outcome.is_some())
    }

    /// Takes the outcome of a request that has ended.
    #[inline]
    pub(super) fn take_outcome(&mut self, id: OpId) -> Option<RequestOutcome> {
        let mut outcome = None;
        self.move_outcome(id, &mut outcome);
        outcome
    }

    /// Moves the outcome of a request that has ended to `into`. Returns false if it has not ended.
    #[inline]
    pub(super) fn move_outcome(&mut self, id: OpId, into: &mut Option<RequestOutcome>) -> bool {
        let request = self.table.get_mut(id);
        let Some(request) = request.filter(|request| request.outcome.is_some()) else {
            return false;
        };
        *into = request.outcome.take();
        self.table.end(id);
        true
    }

    /// Returns true if a task waits for any request.
    #[inline]
    pub(super) fn have_tasks(&self) -> bool {
        self.tasks > 0
    }

    /// Wakes `task` when the request ends. Returns a waker to be dropped without the lock: that of
    /// an earlier call, or `task` if it is not needed. Cloning, comparing and dropping wakers may
    /// run code of the program.
    #[must_use = "is dropped without the lock"]
    pub(super) fn set_task(&mut self, id: OpId, task: Waker) -> Option<Waker> {
        let Some(request) = self.table.get_mut(id) else {
            return Some(task);
        };
        let known = request.task.replace(task);
        if known.is_none() {
            self.tasks = self.tasks.saturating_add(1);
        }
        known
    }

    /// Discards the outcome of a request when it ends. Returns the waker of its task.
    #[must_use = "is dropped without the lock"]
    pub(super) fn forget(&mut self, id: OpId) -> Option<Waker> {
        let request = self.table.get_mut(id)?;
        request.is_forgotten = true;
        let task = request.task.take();
        if task.is_some() {
            self.tasks = self.tasks.saturating_sub(1);
        }
        task
    }

    /// Wakes all tasks that wait for requests.
    #[cold]
    pub(super) fn wake_all_tasks(&mut self) {
        let all = self.table.entries().map(|(id, _)| id);
        self.wake(all.collect());
    }

    /// Wakes the tasks that wait for requests of a communicator.
    pub(super) fn wake_tasks_in(&mut self, context: u32) {
        let pending = self.pending_in(context);
        self.wake(pending.into_iter().map(|(id, _)| id).collect());
    }

    fn wake(&mut self, requests: Vec<OpId>) {
        for id in requests {
            let request = self.table.get_mut(id);
            if let Some(task) = request.and_then(|request| request.task.take()) {
                self.tasks = self.tasks.saturating_sub(1);
                callbacks::wake(task);
            }
        }
    }

    /// Returns the requests of a communicator that have not ended. The second value is true for
    /// sends.
    pub(super) fn pending_in(&self, context: u32) -> Vec<(OpId, bool)> {
        let pending = self.table.entries().filter(|(_, request)| {
            request.outcome.is_none() && request.context & !COLLECTIVE == context
        });
        pending
            .map(|(id, request)| (id, request.sending.is_some()))
            .collect()
    }

    /// Returns the number of requests.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.table.entries().count()
    }

    /// Returns the receives that have not ended and whose pattern `is_meant` accepts, with their
    /// element types.
    pub(super) fn pending_receives(
        &self,
        is_meant: impl Fn(&Pattern) -> bool,
    ) -> Vec<(OpId, ElementName)> {
        let pending = self.table.entries().filter(|(_, request)| {
            let is_open = request.outcome.is_none() && request.sending.is_none();
            is_open && request.pattern.as_ref().is_some_and(&is_meant)
        });
        pending
            .map(|(id, request)| (id, request.expected))
            .collect()
    }
}

impl RankRequest {
    fn new(context: u32, target: ReceiveTarget, expected: ElementName) -> Self {
        Self {
            context,
            pattern: None,
            capacity: target.capacity(),
            target,
            expected,
            posted: None,
            want: None,
            outcome: None,
            task: None,
            is_forgotten: false,
            sending: None,
        }
    }

    #[inline]
    fn take_jbuf(&mut self) -> Option<EmptyBuffer> {
        match std::mem::replace(&mut self.target, ReceiveTarget::Pool) {
            ReceiveTarget::Pool | ReceiveTarget::Scattered { .. } => None,
            ReceiveTarget::Jbuf(empty) | ReceiveTarget::Memory(empty) => Some(empty),
        }
    }
}
