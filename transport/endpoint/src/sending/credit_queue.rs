//! Messages that need credit of the peer. They enter the send queue when they have it.
//!
//! Decision 072 has the reasons.

use super::{SendDirection, SendOp};
use crate::connection_info::EndReason;
use crate::direction_lock::Direction;
use crate::gate::{Credit, Overfull};
use crate::ops::{Notify, OpId};
use jstream_base::SendError;
use jstream_device::connection::Outbound;

impl SendDirection {
    /// As [`post`](Self::post), for a message that may have to wait for credit of the peer.
    pub(crate) fn post_with_credit(
        &mut self,
        message: Outbound<'static>,
        refused: Option<SendError>,
        notify: Notify,
        cost: Credit,
    ) -> OpId {
        let mut refused = refused.or_else(|| self.ended());
        // A message that is refused anyway must not use up credit, so the refusal is checked first.
        let goes = refused.is_some() || self.gate.charge(cost);
        // The peer has ended its direction, so the credit would never come.
        if !goes && self.gate.is_closed() {
            refused = Some(self.info.unsendable(&EndReason::Ended));
        }
        let id = self.ops.insert(SendOp {
            message,
            result: None,
            notify,
            // Completing a failed operation refunds its cost, and nothing was charged for this one.
            cost: if refused.is_some() {
                Credit::FREE
            } else {
                cost
            },
            since: self.clock,
            place: 0,
            charge: None,
        });
        match refused {
            Some(error) => self.complete(id, Err(error)),
            None if goes => {
                self.enqueue(id);
                self.drive();
            }
            None => {
                self.gate.wait(id, cost);
                // If only bytes are missing, the sink may replace the message by one that goes now.
                self.send_waiting();
            }
        }
        id
    }

    /// Returns true if a message of this cost would go now.
    pub(crate) fn has_credit(&self, cost: Credit) -> bool {
        self.gate.allows(cost)
    }

    /// Charges the cost of a message of a blocking call. Returns false if there is not enough
    /// credit.
    pub(crate) fn charge(&mut self, cost: Credit) -> bool {
        self.gate.charge(cost)
    }

    /// Refunds the cost of a message that was not sent.
    pub(crate) fn refund(&mut self, cost: Credit) {
        self.gate.refund(cost);
        self.send_waiting();
    }

    /// Opens the window that the peer announced.
    pub(crate) fn open_gate(&mut self, window: Credit) -> Result<(), Overfull> {
        self.gate.open(window)?;
        self.send_waiting();
        Ok(())
    }

    /// Restores credit that the peer returned.
    pub(crate) fn restore_credit(&mut self, credit: Credit) -> Result<(), Overfull> {
        self.gate.restore(credit)?;
        self.send_waiting();
        Ok(())
    }

    /// Fails the messages that wait for credit, because the peer sends nothing more and thus
    /// returns no credit. The peer may still receive.
    pub(crate) fn close_gate(&mut self) {
        self.gate.close();
        self.fail_waiting(&EndReason::Ended);
    }

    /// Fails all messages that wait for credit.
    pub(super) fn fail_waiting(&mut self, end: &EndReason) {
        while let Some(id) = self.gate.pop() {
            self.end_waiting(id, self.info.unsendable(end));
        }
    }

    /// Marks the posted messages as abandoned: no caller asks for their outcomes any more.
    pub(crate) fn abandon_posted(&mut self) {
        self.is_abandoned = true;
    }

    /// Returns the number of abandoned messages that wait for credit, or `None` if there are none
    /// or if other messages go first.
    pub(crate) fn count_abandoned(&self) -> Option<usize> {
        // Queued messages have a timeout of their own and end by it. Only messages that wait for
        // credit could wait for ever.
        let is_stuck = self.is_abandoned && self.posted.is_empty() && !self.gate.is_empty();
        is_stuck.then(|| self.gate.count())
    }

    /// Returns true if messages wait for credit.
    pub(crate) fn waits_for_credit(&self) -> bool {
        !self.gate.is_empty()
    }

    /// Cancels a sink's message that waits for credit. Returns false if there is none with the
    /// number `user`.
    pub(crate) fn cancel_waiting(&mut self, user: u64) -> bool {
        let ops = &self.ops;
        let is_meant = |id: &OpId| {
            let op = ops.get(*id);
            op.is_some_and(|op| matches!(op.notify, Notify::Sink(_, other) if other == user))
        };
        let Some(id) = self.gate.remove(is_meant) else {
            return false;
        };
        self.end_waiting(id, SendError::Cancelled);
        // Messages behind the cancelled one may cost less.
        self.send_waiting();
        true
    }

    /// Ends an operation whose cost was not charged.
    fn end_waiting(&mut self, id: OpId, error: SendError) {
        if let Some(op) = self.ops.get_mut(id) {
            op.cost = Credit::FREE;
        }
        self.complete(id, Err(error));
    }

    /// Queues and sends the messages for which there is credit.
    fn send_waiting(&mut self) {
        if self.enqueue_waiting() {
            self.drive();
        }
    }

    /// Queues the messages for which there is credit. Returns true if there were any.
    pub(super) fn enqueue_waiting(&mut self) -> bool {
        let mut any = false;
        loop {
            let (gate, ops) = (&mut self.gate, &mut self.ops);
            let shorten = |id: &OpId| ops.get_mut(*id)?.shorten();
            let Some((id, cost)) = gate.next(shorten) else {
                break;
            };
            if let Some(op) = ops.get_mut(id) {
                op.cost = cost;
                // The send timeout is for the device. The time that the message has waited for
                // credit does not count.
                op.since = self.clock;
            }
            self.enqueue(id);
            any = true;
        }
        any
    }
}

impl SendOp {
    /// Lets the sink replace the message by one that costs less.
    fn shorten(&mut self) -> Option<Credit> {
        let Notify::Sink(sink, user) = &mut self.notify else {
            return None;
        };
        let (shorter, cost) = sink.clone().shorten(*user, &mut self.message)?;
        *sink = shorter;
        Some(cost)
    }
}
