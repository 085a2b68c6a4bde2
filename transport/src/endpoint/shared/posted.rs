//! Operations that were posted: waiting for them, polling them, and giving them up.

use std::sync::Arc;
use std::task::Waker;

use jstream::buffer::Spent;

use super::{Patience, Shared, Way};
use crate::device::connection::Outbound;
use crate::endpoint::gate::Credit;
use crate::endpoint::ops::{Notify, OpId};
use crate::endpoint::receiving::{Arrived, Receipt};
use crate::endpoint::sending::{Sending, Sent};
use crate::endpoint::turn::{Direction, Held, Turn};
use crate::error::SendError;

impl Shared {
    /// Posts a message. What is refused ends at once.
    pub(crate) fn post_send(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
    ) -> OpId {
        self.post_costly(message, refused, notify, Credit::FREE)
    }

    /// As [`post_send`](Self::post_send), which nobody is told of. `noted` is told its place in line, or the last one
    /// where it was refused, and up to which place all have gone, in the order of the places; it may call nothing of this
    /// connection.
    pub(crate) fn post_noted(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        noted: impl FnOnce(u64, u64),
    ) {
        let mut held = self.sending.lock();
        held.post(message, refused, Notify::Request);
        let (place, gone) = held.count_posted();
        noted(place, gone);
        self.see_to_posted(held);
    }

    /// As [`post_send`](Self::post_send), for a message that may have to wait for credit of the peer.
    pub(crate) fn post_costly(
        self: &Arc<Self>,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
        cost: Credit,
    ) -> OpId {
        let mut held = self.sending.lock();
        if !held.has_credit(cost) {
            // Some may have come that nobody has looked at.
            self.settle(self.sending.leave(held));
            self.drive();
            held = self.sending.lock();
        }
        let id = held.post_costly(message, refused, notify, cost);
        self.see_to_posted(held);
        id
    }

    fn see_to_posted(self: &Arc<Self>, held: Held<'_, Sending>) {
        let is_left = held.has_posted();
        self.settle(self.sending.leave(held));
        // Those who wait for a message already have not seen it.
        if is_left && (self.sending.has_sleepers_beside() || self.receiving_alarm.is_waited_for()) {
            self.carry();
        }
    }

    /// Up to which place in line all messages have gone that were posted to be sent.
    pub(crate) fn count_gone(&self) -> u64 {
        let held = self.sending.lock();
        let (_, gone) = held.count_posted();
        self.settle(self.sending.leave(held));
        gone
    }

    /// Has `waker` called once, when the next posted message has gone, or has ended.
    pub(crate) fn tell_when_gone(&self, waker: Waker) {
        let mut held = self.sending.lock();
        held.tell_when_gone(waker);
        self.settle(self.sending.leave(held));
    }

    /// Takes back a message of a sink, if it waits for credit.
    pub(crate) fn cancel_waiting(&self, user: u64) -> bool {
        let mut held = self.sending.lock();
        let cancelled = held.cancel_waiting(user);
        self.settle(self.sending.leave(held));
        cancelled
    }

    /// Whether messages wait for credit.
    pub(crate) fn waits_for_credit(&self) -> bool {
        if !self.sending.is_pending() {
            return false;
        }
        let held = self.sending.lock();
        let waits = held.waits_for_credit();
        self.settle(self.sending.leave(held));
        waits
    }

    /// Has what is posted to be sent carried on, though nobody waits for it.
    pub(crate) fn carry(self: &Arc<Self>) {
        if self.facts.scheme == "sim" {
            // Only its own thread can go on with a simulation.
            self.carrier.carry_in_simulation(self);
        } else {
            self.carrier.carry(self);
        }
    }

    /// Posts a receive into a jbuf, or into one of the pool.
    pub(crate) fn post_recv(self: &Arc<Self>, spent: Option<Spent>, notify: Notify) -> OpId {
        let mut held = self.receiving.lock();
        let id = held.post(spent, notify);
        let is_left = held.has_posted();
        self.settle(self.receiving.leave(held));
        // Tasks that wait for a send already have not seen it.
        if is_left && self.sending_alarm.is_waited_for() {
            self.sending_alarm.ring();
        }
        // Nor have threads that sleep in one.
        if is_left && self.receiving.has_sleepers_beside() && self.facts.scheme != "sim" {
            self.carrier.carry_receives(self);
        }
        id
    }

    /// Has a message received next, as if it had not been received yet.
    pub(crate) fn keep(&self, arrived: Arrived) {
        let mut held = self.receiving.lock();
        held.keep(arrived);
        self.settle(self.receiving.leave(held));
    }

    /// Waits for what comes of a posted send; `None` when it is not known in time.
    pub(crate) fn wait_sent(&self, id: OpId, patience: Patience) -> Option<Sent> {
        let mut held = self.sending.lock();
        let sent = held.take(id);
        let (held, sent) = match sent {
            Some(sent) => (held, Some(sent)),
            None => {
                let deadline = || patience.deadline();
                self.sending
                    .wait_until(&self.receiving, held, deadline, |sending| sending.take(id))
            }
        };
        self.settle(self.sending.leave(held));
        sent
    }

    /// Waits for what comes of a posted receive; `None` when it is not known in time.
    pub(crate) fn wait_received(&self, id: OpId, patience: Patience) -> Option<Receipt> {
        let mut held = self.receiving.lock();
        let receipt = held.take(id);
        let (held, receipt) = match receipt {
            Some(receipt) => (held, Some(receipt)),
            None => {
                let deadline = || patience.deadline();
                self.receiving
                    .wait_until(&self.sending, held, deadline, |receiving| {
                        receiving.take(id)
                    })
            }
        };
        self.settle(self.receiving.leave(held));
        receipt
    }

    /// What came of a posted send, or else `task` is woken when it may be known.
    pub(crate) fn poll_sent(&self, id: OpId, task: &Waker) -> Option<Sent> {
        let mut held = self.sending.lock();
        Turn::drive_for_task(&mut *held);
        let sent = held.take(id);
        if sent.is_none() {
            held.notify(id, task);
            self.sending_alarm.register(task, None);
        }
        self.settle(self.sending.leave(held));
        if sent.is_none() {
            self.progress_beside(Way::Out, Some(task), None);
        }
        sent
    }

    /// What came of a posted receive, or else `task` is woken when it may be known.
    pub(crate) fn poll_received(self: &Arc<Self>, id: OpId, task: &Waker) -> Option<Receipt> {
        let mut held = self.receiving.lock();
        Turn::drive_for_task(&mut *held);
        let receipt = held.take(id);
        if receipt.is_none() {
            held.notify(id, task);
            self.receiving_alarm.register(task, None);
        }
        self.settle(self.receiving.leave(held));
        if receipt.is_none() {
            self.progress_beside(Way::In, Some(task), None);
        }
        receipt
    }

    /// Ends a posted send that the device has taken nothing of. False when it has.
    pub(crate) fn cancel_send(&self, id: OpId) -> bool {
        let mut held = self.sending.lock();
        let cancelled = held.cancel(id);
        held.drive();
        self.settle(self.sending.leave(held));
        cancelled
    }

    /// Ends a posted receive that has no message.
    pub(crate) fn cancel_receive(&self, id: OpId) {
        let mut held = self.receiving.lock();
        held.cancel(id);
        held.drive();
        self.settle(self.receiving.leave(held));
    }

    /// Nobody asks for a posted send any more; it is still carried out.
    pub(crate) fn forget_send(self: &Arc<Self>, id: OpId) {
        let mut held = self.sending.lock();
        let sent = held.forget(id);
        let is_left = held.has_posted();
        self.settle(self.sending.leave(held));
        drop(sent);
        if is_left {
            self.carry();
        }
    }

    /// Nobody asks for a posted receive any more; a message that it has is kept.
    pub(crate) fn forget_receive(&self, id: OpId) {
        let mut held = self.receiving.lock();
        let missed = held.forget(id);
        self.settle(self.receiving.leave(held));
        drop(missed);
    }
}
