//! Messages that a [`Taker`] gets as they come.

use std::sync::Arc;

use super::Shared;
use crate::endpoint::receiving::Taker;
use crate::endpoint::turn::Direction;

impl Shared {
    /// From now on `taker` gets all messages, whoever waits for whatever.
    pub(crate) fn set_taker(&self, taker: Arc<dyn Taker>) {
        let mut held = self.receiving.lock();
        held.set_taker(taker);
        self.settle(self.receiving.leave(held));
    }

    /// Has the taker asked whether it wants messages again.
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

    /// Has what is posted to be sent carried on, if anything is, though nobody waits for it.
    pub(crate) fn carry_what_is_left(self: &Arc<Self>) {
        if self.sending.is_pending() {
            self.carry();
        }
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
