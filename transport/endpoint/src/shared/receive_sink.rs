//! Receive sinks: messages that a [`ReceiveSink`] gets on arrival.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::Shared;
use crate::direction_lock::Direction;
use crate::receiving::{BypassedMessages, ReceiveSink};
use jstream_base::Header;

impl Shared {
    /// Makes `sink` the receiver of all messages, regardless of which threads wait. Returns false
    /// if another one was set before.
    pub fn set_receive_sink(&self, sink: Arc<dyn ReceiveSink>) -> bool {
        self.receiving.lock().set_receive_sink(sink)
    }

    /// Counts time that was spent polling, without a sleep, towards the timeout of a message that
    /// has begun. If the message exceeds it, the connection ends.
    pub fn count_begun(&self, elapsed: Duration) {
        self.receiving.lock().count_begun(elapsed);
    }

    /// Retries messages for which the pool had no room.
    pub fn resume(&self) {
        self.receiving.lock().resume();
    }

    /// Gives the receive sink the messages that have arrived, and drives the posted sends.
    #[inline]
    pub fn drive(&self) {
        let mut receiving = self.receiving.lock();
        receiving.drive();
        receiving.release();
        if self.sending.is_pending() {
            self.sending.lock().drive();
        }
    }

    /// Fast path: receives the next message to the front of `memory`, bypassing the receive sink,
    /// if it arrives while `again` returns true. `may` is called first, and again after other
    /// threads had the lock. `wants` decides by the header whether to receive the message, and
    /// `note` is called with the header of the received message. All three run under the lock.
    #[inline]
    pub fn receive_bypassing_sink(
        &self,
        memory: &mut [u8],
        may: impl Fn() -> bool,
        wants: impl Fn(&Header) -> bool,
        note: impl FnOnce(&Header),
        mut again: impl FnMut() -> bool,
    ) -> Option<Header> {
        let mut receiving = self.receiving.lock();
        // Asked under the lock: no other thread can deliver a message between the answer and the
        // receive.
        let mut may_go_on = may();
        let mut received = None;
        while may_go_on {
            match receiving.receive_bypassing_sink(memory, &wants) {
                BypassedMessages::Received(header) => {
                    note(&header);
                    received = Some(header);
                    break;
                }
                BypassedMessages::Nothing => {}
                BypassedMessages::Other => break,
            }
            // The general path drives the posted sends as well, for which the peer may be waiting.
            if self.sending.is_pending() || !again() {
                break;
            }
            if self.receiving.is_wanted() {
                drop(receiving);
                std::thread::yield_now();
                receiving = self.receiving.lock();
                // Other threads may have delivered messages that precede the next one.
                may_go_on = may();
            }
        }
        if received.is_none() {
            // A part of a message may have been read, or the device may have restarted the
            // operation for which it was armed. It is armed anew when the lock is released, if a
            // task waits.
            self.receiving_alarm.disarm();
        }
        receiving.release();
        received
    }

    /// Unregisters a task that does not wait any more. A device that was armed for this task alone
    /// is not armed again.
    pub fn forget_waker(&self, task: &Waker) {
        self.receiving_alarm.forget(task);
        self.sending_alarm.forget(task);
    }

    /// Has a background thread drive the posted sends, if there are any, although no caller waits
    /// for them.
    pub fn carry_unsent(self: &Arc<Self>) {
        if self.sending.is_pending() {
            self.carry();
        }
    }

    /// Marks the posted messages as abandoned: no caller asks for their outcomes any more. They are
    /// still sent. Messages that wait for credit are kept as long as some credit arrives within the
    /// send timeout.
    pub fn abandon_posted(self: &Arc<Self>) {
        self.sending.lock().abandon_posted();
        self.carry_unsent();
        // A background driver that already runs has to notice that its messages can now time out.
        self.carrier.reschedule_sends(self);
    }

    /// Returns the number of abandoned messages that wait for credit, or `None` if there are none
    /// or if other messages go first.
    pub(crate) fn count_abandoned(&self) -> Option<usize> {
        self.sending.lock().count_abandoned()
    }

    /// Fails the abandoned messages that wait for credit.
    pub(crate) fn fail_abandoned(&self) {
        self.sending.lock().close_gate();
    }

    /// Gives the receive sink the messages that have arrived, for a call that sends. Returns false
    /// if there is no receive sink.
    pub(super) fn drive_ready_sink(&self) -> bool {
        let mut receiving = self.receiving.lock();
        let takes = receiving.has_ready_sink();
        if takes {
            receiving.drive();
        }
        takes
    }
}
