//! Posted operations: waiting for them, polling them, and dropping their handles.

use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::EmptyBuffer;

use super::{Half, Patience, Shared};
use crate::direction_lock::{Direction, DirectionGuard, DirectionLock};
use crate::gate::Credit;
use crate::ops::{Notify, OpId};
use crate::receiving::{Arrived, Receipt, Receiving};
use crate::sending::{SendDirection, SendOutcome};
use jstream_base::SendError;
use jstream_base::byte_limit::ByteCharge;
use jstream_device::connection::Outbound;
use jstream_device::deadline::Deadline;
use jstream_sync::watcher::Watcher;

impl Shared {
    /// Posts a message. A refused one ends at once.
    pub fn post_send(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
    ) -> OpId {
        self.post_with_credit(message, refused, notify, Credit::FREE)
    }

    /// As [`post_send`](Self::post_send), without a handle for the outcome. `charge`, if given, is
    /// dropped as soon as the message was sent or has failed. `noted` is called with the message's
    /// position in the send queue and the position up to which all messages were
    /// sent. If the message was refused, the first argument is the last position that was assigned.
    /// The calls are in the order of the positions. `noted` must not use this connection.
    pub fn post_with_position(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        charge: Option<ByteCharge>,
        noted: impl FnOnce(u64, u64),
    ) {
        let mut sending = self.sending.lock();
        sending.post_charged(message, refused, charge);
        let (place, gone) = sending.posted_positions();
        // Called under the lock, so that the calls have the order of the positions.
        noted(place, gone);
        self.release_after_post(sending);
    }

    /// As [`post_send`](Self::post_send), for a message that may have to wait for credit of the
    /// peer.
    pub fn post_with_credit(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
        cost: Credit,
    ) -> OpId {
        let mut sending = self.sending.lock();
        if !sending.has_credit(cost) {
            // Credit may have arrived that no thread has received yet.
            drop(sending);
            self.drive();
            sending = self.sending.lock();
        }
        let id = sending.post_with_credit(message, refused, notify, cost);
        self.release_after_post(sending);
        id
    }

    /// Releases the lock after a message was posted. Has a background thread send it if no caller
    /// drives it.
    fn release_after_post(self: &Arc<Self>, sending: DirectionGuard<'_, SendDirection>) {
        let is_left = sending.has_posted();
        drop(sending);
        // Callers that already wait for a message do not know of the posted one.
        if is_left && (self.sending.has_opposite_sleepers() || self.receiving_alarm.is_waited_for())
        {
            self.carry();
        }
    }

    /// Returns the position in the send queue up to which all posted messages were sent or have
    /// ended.
    pub fn completed_position(&self) -> u64 {
        let (_, completed) = self.sending.lock().posted_positions();
        completed
    }

    /// Registers `waker` to be called once when the next posted message was sent or has ended.
    pub fn notify_when_completed(&self, waker: Waker) {
        self.sending.lock().notify_when_completed(waker);
    }

    /// Cancels a message of a sink if it waits for credit.
    pub fn cancel_waiting(&self, user: u64) -> bool {
        self.sending.lock().cancel_waiting(user)
    }

    /// Returns true if messages wait for credit.
    pub fn waits_for_credit(&self) -> bool {
        self.sending.is_pending() && self.sending.lock().waits_for_credit()
    }

    /// Returns the error if no request can be sent any more.
    pub(crate) fn unsendable(&self) -> Option<SendError> {
        self.sending.lock().ended()
    }

    /// Has a background thread drive the posted sends, although no caller waits for them.
    pub fn carry(self: &Arc<Self>) {
        if self.info.scheme == "sim" {
            // Only the thread of a simulation can drive it.
            self.carrier.carry_in_simulation(self);
        } else {
            self.carrier.carry(self);
        }
    }

    /// Posts a receive into the given buffer, or into one of the pool. The owner of a sink has to
    /// call [`progress`](Self::progress) afterwards.
    pub(crate) fn post_recv(self: &Arc<Self>, empty: Option<EmptyBuffer>, notify: Notify) -> OpId {
        let mut receiving = self.receiving.lock();
        let id = receiving.post(empty, notify);
        let is_left = receiving.has_posted();
        drop(receiving);
        if is_left {
            self.notify_senders();
        }
        id
    }

    /// Registers `task` to be woken once when a message may have arrived, or when the direction has
    /// ended. The caller has just polled the direction without result: the device is armed without
    /// another poll, and if a message has arrived since, arming finds it. No message is received
    /// for the task. `watcher` is as in [`progress`](Self::progress).
    pub(crate) fn arm_receive(&self, task: &Waker, watcher: &Arc<Watcher>) {
        // The release of the lock arms the device.
        self.receiving.lock().report_to(task, watcher);
        self.progress_opposite(Half::In, Some(task), Some(watcher));
    }

    /// Unregisters a task of [`arm_receive`](Self::arm_receive). Reports to another task go on: the
    /// caller may be an old queue of a connection that is armed in another one.
    pub(crate) fn disarm_receive(&self, task: &Waker) {
        let mut receiving = self.receiving.lock();
        receiving.end_wait();
        Self::forget_task(&mut *receiving, &self.receiving_alarm, task);
        receiving.end_reports();
        // The release arms the device again, with the watcher of the task that is left.
        drop(receiving);
        Self::lock_and_forget_task(&self.sending, &self.sending_alarm, task);
    }

    /// Notifies those who wait for the send direction that a receive was posted.
    fn notify_senders(self: &Arc<Self>) {
        // Tasks that already wait for a send do not know of the posted receive.
        if self.sending_alarm.is_waited_for() {
            self.sending_alarm.ring();
        }
        // Threads that sleep in a send do not know of it either.
        if self.receiving.has_opposite_sleepers() && self.info.scheme != "sim" {
            self.carrier.carry_receives(self);
        }
    }

    /// Keeps a message for the next receive, as if it had not been received yet.
    pub(crate) fn keep(&self, arrived: Arrived) {
        self.receiving.lock().keep(arrived);
    }

    /// Blocks until a posted send has ended, and returns its outcome. Returns `None` if it does not
    /// end in time.
    pub(crate) fn wait_sent(&self, id: OpId, patience: Patience) -> Option<SendOutcome> {
        let mut sending = self.sending.lock();
        if let Some(sent) = sending.take_outcome(id) {
            return Some(sent);
        }
        let deadline = || patience.deadline();
        let take = |sending: &mut SendDirection| sending.take_outcome(id);
        let (_sending, sent) = self
            .sending
            .wait_until(&self.receiving, sending, deadline, take);
        sent
    }

    /// Blocks until a posted receive has ended, and returns its outcome. Returns `None` if it does
    /// not end in time.
    pub(crate) fn wait_received(&self, id: OpId, patience: Patience) -> Option<Receipt> {
        let mut receiving = self.receiving.lock();
        if let Some(receipt) = receiving.take_receipt(id) {
            return Some(receipt);
        }
        let take = |receiving: &mut Receiving| receiving.take_receipt(id);
        self.wait_receiving(receiving, || patience.deadline(), take)
    }

    /// Blocks until `attempt` returns a value. Returns `None` if the deadline passes first.
    pub(crate) fn wait_receiving<'s, R>(
        &'s self,
        receiving: DirectionGuard<'s, Receiving>,
        deadline: impl FnMut() -> Deadline,
        attempt: impl FnMut(&mut Receiving) -> Option<R>,
    ) -> Option<R> {
        let (_receiving, answer) =
            self.receiving
                .wait_until(&self.sending, receiving, deadline, attempt);
        answer
    }

    /// Returns the outcome of a posted send. If it has not ended, registers `task` to be woken when
    /// it may have.
    pub(crate) fn poll_sent(&self, id: OpId, task: &Waker) -> Option<SendOutcome> {
        let mut sending = self.sending.lock();
        DirectionLock::drive_for_task(&mut *sending);
        let sent = sending.take_outcome(id);
        if sent.is_none() {
            sending.notify(id, task);
            // Registered under the lock under which the operation was found unfinished. A thread
            // that completes it later finds the task.
            self.sending_alarm.register(task, None);
        }
        // The receive direction is locked before the send direction, never after it.
        drop(sending);
        if sent.is_none() {
            self.progress_opposite(Half::Out, Some(task), None);
        }
        sent
    }

    /// Returns the outcome of a posted receive. If it has not ended, registers `task` to be woken
    /// when it may have.
    pub(crate) fn poll_received(&self, id: OpId, task: &Waker) -> Option<Receipt> {
        self.poll_receiving(task, |receiving| {
            let receipt = receiving.take_receipt(id);
            if receipt.is_none() {
                receiving.notify(id, task);
            }
            receipt
        })
    }

    /// Drives the posted operations, and returns the value of `attempt`. If that is `None`,
    /// registers `task` to be woken when the direction may make progress.
    pub(crate) fn poll_receiving<R>(
        &self,
        task: &Waker,
        attempt: impl FnOnce(&mut Receiving) -> Option<R>,
    ) -> Option<R> {
        let mut receiving = self.receiving.lock();
        DirectionLock::drive_for_task(&mut *receiving);
        let answer = attempt(&mut receiving);
        if answer.is_none() {
            self.receiving_alarm.register(task, None);
        }
        drop(receiving);
        if answer.is_none() {
            self.progress_opposite(Half::In, Some(task), None);
        }
        answer
    }

    /// Cancels a posted send of which the device has taken nothing. Returns false if the device has
    /// taken a part.
    pub(crate) fn cancel_send(&self, id: OpId) -> bool {
        let mut sending = self.sending.lock();
        let is_cancelled = sending.cancel(id);
        // The message behind the cancelled one may be the first now.
        sending.drive();
        is_cancelled
    }

    /// Cancels a posted receive that has no message.
    pub(crate) fn cancel_receive(&self, id: OpId) {
        let mut receiving = self.receiving.lock();
        receiving.cancel(id);
        receiving.drive();
    }

    /// Drops the handle of a posted send. The send is still carried out.
    pub(crate) fn forget_send(self: &Arc<Self>, id: OpId) {
        let mut sending = self.sending.lock();
        let sent = sending.forget(id);
        let is_left = sending.has_posted();
        // The outcome holds memory of the program, which is dropped without the lock.
        drop(sending);
        drop(sent);
        if is_left {
            self.carry();
        }
    }

    /// Drops the handle of a posted receive. A message that it has received is kept for the next
    /// receive.
    pub(crate) fn forget_receive(&self, id: OpId) {
        // The guard is gone at the end of this statement, before the buffer is dropped.
        let missed = self.receiving.lock().forget(id);
        drop(missed);
    }
}
