//! Reports of arrivals: a task is woken when a message may have arrived, and then receives it
//! itself.
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

use super::Receiving;
use crate::direction_lock::DirectionLock;
use jstream_sync::watcher::Watcher;

impl Receiving {
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
