//! Messages that a [`Taker`] gets as they come.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::Shared;
use crate::endpoint::receiving::{Past, Taker};
use crate::endpoint::turn::Direction;
use crate::header::Header;

impl Shared {
    /// From now on `taker` gets all messages, whoever waits for whatever. False where another one does.
    pub(crate) fn set_taker(&self, taker: Arc<dyn Taker>) -> bool {
        let mut held = self.receiving.lock();
        let is_first = held.set_taker(taker);
        self.settle(self.receiving.leave(held));
        is_first
    }

    /// Nobody slept for a message for so long, but it was looked for. One that has begun, and takes too long by that, ends
    /// the connection.
    pub(crate) fn count_begun(&self, elapsed: Duration) {
        let mut held = self.receiving.lock();
        held.count_begun(elapsed);
        self.settle(self.receiving.leave(held));
    }

    /// Has messages received again that the pool had no room for.
    pub(crate) fn resume(&self) {
        let mut held = self.receiving.lock();
        held.resume();
        self.settle(self.receiving.leave(held));
    }

    /// Gives the taker what is here, and carries on what is posted to be sent.
    #[inline]
    pub(crate) fn drive(&self) {
        let mut held = self.receiving.lock();
        held.drive();
        self.settle(self.receiving.leave(held));
        if self.sending.is_pending() {
            let mut held = self.sending.lock();
            held.drive();
            self.settle(self.sending.leave(held));
        }
    }

    /// Receives the next message to the front of `memory`, past the taker, if it comes while `again` says to
    /// look again. `may` is asked first, and after others had the connection; `wants` is asked for the
    /// message, and `note` is told of it, under the lock.
    #[inline]
    pub(crate) fn receive_past(
        &self,
        memory: &mut [u8],
        may: impl Fn() -> bool,
        wants: impl Fn(&Header) -> bool,
        note: impl FnOnce(&Header),
        mut again: impl FnMut() -> bool,
    ) -> Option<Header> {
        let mut held = self.receiving.lock();
        let mut may_go_on = may();
        let mut received = None;
        while may_go_on {
            match held.receive_past(memory, &wants) {
                Past::Received(header) => {
                    note(&header);
                    received = Some(header);
                    break;
                }
                Past::Nothing => {}
                Past::Other => break,
            }
            if self.sending.is_pending() || !again() {
                break;
            }
            if self.receiving.is_wanted() {
                self.settle(self.receiving.leave(held));
                std::thread::yield_now();
                held = self.receiving.lock();
                may_go_on = may();
            }
        }
        self.settle(self.receiving.leave(held));
        received
    }

    /// `task` does not wait any more, and what is armed for it alone need not be armed anew.
    pub(crate) fn forget_waker(&self, task: &Waker) {
        self.receiving_alarm.forget(task);
        self.sending_alarm.forget(task);
    }

    /// Has what is posted to be sent carried on, if anything is, though nobody waits for it.
    pub(crate) fn carry_what_is_left(self: &Arc<Self>) {
        if self.sending.is_pending() {
            self.carry();
        }
    }

    /// Nobody asks any more for what was posted. It is carried on; what waits for credit, as long as some comes
    /// within the time of sending.
    pub(crate) fn leave_behind(self: &Arc<Self>) {
        let mut held = self.sending.lock();
        held.leave_behind();
        self.settle(self.sending.leave(held));
        self.carry_what_is_left();
        self.carrier.look_again(self);
    }

    /// How many messages wait for credit that nobody asks for any more; nothing when none do, or others go first.
    pub(in crate::endpoint) fn count_left_behind(&self) -> Option<usize> {
        let held = self.sending.lock();
        let count = held.count_left_behind();
        self.settle(self.sending.leave(held));
        count
    }

    /// Ends them.
    pub(in crate::endpoint) fn give_up_left_behind(&self) {
        let mut held = self.sending.lock();
        held.close_gate();
        self.settle(self.sending.leave(held));
    }

    /// For a call that sends: gives the taker what is here. False if there is none.
    pub(super) fn takes_beside(&self) -> bool {
        let mut held = self.receiving.lock();
        let takes = held.has_taker();
        if takes {
            held.drive();
        }
        self.settle(self.receiving.leave(held));
        takes
    }
}
