//! Posted receives, and reports of arrivals: a task is woken when a message may have arrived, and
//! then receives it itself.
//!
//! A report needs no operation: the task is in the alarm of the direction, as those are that wait
//! for posted receives, and the release of the lock arms the device for it. As long as
//! `reports_arrivals` is set, each way in which a message or the end can come to the direction
//! without the device wakes the task, and a poll that may have taken the arming off the device
//! arms it again. The flag stays set after a report: the task is no longer in the alarm then, so
//! there is nothing to arm for.
//!
//! Decision 132 has the reasons.

use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::EmptyBuffer;

use super::{Arrived, Missed, Receipt, Receiving, RecvOp};
use crate::connection_info::EndReason;
use crate::direction_lock::{Direction, DirectionLock};
use crate::ops::{Notify, OpId, Ops, Sink};
use jstream_base::RecvError;
use jstream_sync::callbacks;
use jstream_sync::watcher::Watcher;

impl Receiving {
    /// Appends a receive operation. The owner of a sink drives the direction afterwards.
    ///
    /// Most often, the last message has just been received and the next one has not arrived yet, so
    /// another poll at once would be a wasted system call.
    pub(crate) fn post(&mut self, empty: Option<EmptyBuffer>, notify: Notify) -> OpId {
        let has_sink = matches!(notify, Notify::Sink(..));
        let id = self.ops.insert(RecvOp {
            empty,
            receipt: None,
            notify,
        });
        self.is_driven = true;
        self.posted.push_back(id);
        if !has_sink {
            self.drive();
        }
        id
    }

    /// Returns the outcome of an operation that has ended.
    pub(crate) fn take_receipt(&mut self, id: OpId) -> Option<Receipt> {
        self.ops.get_mut(id)?.receipt.as_ref()?;
        self.ops.remove(id)?.receipt
    }

    /// Registers `task` to be woken when the operation ends, in place of the task that polled
    /// before.
    pub(crate) fn notify(&mut self, id: OpId, task: &Waker) {
        let op = self.ops.get_mut(id);
        if let Some(other) = op.and_then(|op| op.notify.set_task(task)) {
            self.release(other);
        }
    }

    /// Cancels an operation that has no message. The outcome contains its buffer, unless that holds
    /// a part of a message.
    pub(crate) fn cancel(&mut self, id: OpId) {
        let place = self.posted.iter().position(|posted| *posted == id);
        if let Some(place) = place {
            self.posted.remove(place);
            self.complete(id, Err(RecvError::Cancelled));
        }
    }

    /// Drops an operation. If it has received a message, the message is kept for the next receive.
    /// The caller drops the returned value outside of the lock.
    pub(crate) fn forget(&mut self, id: OpId) -> Option<Missed> {
        let op = self.ops.get_mut(id)?;
        if let Notify::Task(task) = std::mem::replace(&mut op.notify, Notify::Nobody) {
            self.release(task);
        }
        self.cancel(id);
        match self.take_receipt(id)? {
            Ok(arrived) => {
                self.keep(arrived);
                None
            }
            Err(missed) => Some(missed),
        }
    }

    /// Drops the operations of a sink. Returns their buffers, which the caller drops outside of the
    /// lock.
    pub(crate) fn forget_sink(&mut self, sink: &Arc<dyn Sink>) -> Vec<Missed> {
        let of_sink = |id: &OpId, ops: &mut Ops<RecvOp>| {
            ops.get_mut(*id).is_some_and(|op| op.notify.is_of(sink))
        };
        let mut missed = Vec::new();
        while let Some(id) = self
            .posted
            .iter()
            .copied()
            .find(|id| of_sink(id, &mut self.ops))
        {
            // The sink is not told of the receives that it drops itself.
            if let Some(op) = self.ops.get_mut(id) {
                op.notify = Notify::Nobody;
            }
            missed.extend(self.forget(id));
        }
        missed
    }

    /// Unregisters a task that does not wait for one operation any more, unless it waits for
    /// another one: a receive, a put or a get.
    pub(crate) fn release(&mut self, task: Waker) {
        let mut posted = self.posted.iter().filter_map(|id| self.ops.get(*id));
        // One task may poll several tickets of this direction.
        let is_awaited = posted.any(|op| op.notify.is_task(&task));
        if !is_awaited && !self.remote.is_awaited_by(&task) {
            self.alarm.forget(&task);
        }
        // Dropping a waker calls the program, which is not allowed under the lock.
        callbacks::discard([task]);
    }

    pub(super) fn complete(&mut self, id: OpId, result: Result<Arrived, RecvError>) {
        let Some(op) = self.ops.get_mut(id) else {
            return;
        };
        let empty = op.empty.take();
        let receipt = result.map_err(|error| Missed { error, empty });
        // The recipient is told once, so it is taken out.
        match std::mem::replace(&mut op.notify, Notify::Ticket) {
            Notify::Sink(sink, user) => {
                self.ops.end(id);
                sink.received(user, receipt);
            }
            Notify::Task(task) => {
                op.receipt = Some(receipt);
                self.alarm.forget(&task);
                callbacks::wake(task);
            }
            Notify::Ticket
            | Notify::Nobody
            | Notify::Request
            | Notify::Answer
            | Notify::Gathered => {
                op.receipt = Some(receipt);
                self.common.duties.record_change();
            }
        }
    }

    /// Keeps a message for the next receive, as if it had not been received yet.
    pub(crate) fn keep(&mut self, arrived: Arrived) {
        if matches!(self.end, Some(EndReason::ClosedLocally)) {
            return;
        }
        let kept_bytes = &mut self.remote.kept_bytes;
        *kept_bytes = kept_bytes.saturating_add(arrived.header.length);
        // Numbers may wrap: a number is later if it is ahead by less than half of the range.
        let is_later = |kept: &Arrived| kept.number.wrapping_sub(arrived.number) < u64::MAX / 2;
        let place = self.kept.iter().position(is_later);
        self.kept.insert(place.unwrap_or(self.kept.len()), arrived);
        self.report();
        self.drive();
    }

    /// Registers `task` to be woken once when a message may have arrived, or when the direction has
    /// ended.
    pub(crate) fn report_to(&mut self, task: &Waker, watcher: &Arc<Watcher>) {
        self.reports_arrivals = true;
        self.alarm.register(task, Some(watcher));
        if self.end.is_some() || !self.kept.is_empty() {
            return self.report();
        }
        // The last poll may have restarted the operation for which the device was armed.
        self.alarm.disarm();
    }

    /// Ends the reports, unless tasks are left in the alarm: one of them may belong to the queue
    /// that reports the connection now. The caller has unregistered its own task. If only other
    /// tasks are left, the device is armed for them without need.
    pub(crate) fn end_reports(&mut self) {
        self.reports_arrivals = self.alarm.is_waited_for();
    }

    /// Wakes the task that waits for a message, if there is one.
    #[inline]
    pub(crate) fn report(&mut self) {
        if self.reports_arrivals {
            self.alarm.ring();
        }
    }

    /// Has the device armed again after a poll without result, which may have restarted the
    /// operation for which it was armed.
    #[inline]
    pub(super) fn rearm(&self) {
        // The task stays in the alarm. Because the alarm no longer counts as armed, the release of
        // the lock arms the device.
        if self.reports_arrivals {
            self.alarm.disarm();
        }
    }

    /// Counts the time since the task began to wait towards the timeout of the message that has
    /// begun. From here on, the caller polls.
    #[inline]
    pub(crate) fn end_wait(&mut self) {
        if self.common.waited_since.is_some() {
            DirectionLock::drive_for_task(self);
            self.common.waited_since = None;
        }
    }
}
