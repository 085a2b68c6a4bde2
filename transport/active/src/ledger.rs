//! Accounting of a connection, without I/O: the windows of both sides, the outstanding requests of
//! this side, and the open messages of the peer.
//!
//! A side sends only within the window that its peer has announced: a number of messages, and a
//! number of bytes. The peer returns credit for completed messages with its next frame, whatever
//! kind that is. Answers need no credit, because the requester has reserved a slot for them.

mod accounts;
mod call;
mod calls;
mod opened;
mod outcomes;
mod single_request;
mod window;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

pub(super) use self::accounts::Accounts;
pub(super) use self::call::{Answer, discard};
use self::call::{Call, CallSlot};
use self::opened::Opened;
pub(super) use self::opened::{Cancel, Number, Open};
pub(super) use self::outcomes::{FULL, Haste, Held, Violation};
#[cfg(all(test, loom))]
pub(super) use self::single_request::{Lent, SingleRequest};
pub(super) use self::window::Window;
use super::frame::Credit;

/// A frame that is queued for sending.
struct Withheld {
    credit: Credit,
    length: u64,
    /// Sequence number of the frame among all that were posted.
    place: u64,
}

/// The ledger of one connection.
pub(super) struct Ledger {
    /// The window of this side, and that of the peer.
    out: Window,
    inward: Window,
    /// Credit that is due to the peer.
    due_messages: u32,
    due_bytes: u64,
    calls: Vec<CallSlot>,
    free: Vec<u16>,
    /// Messages of the peer that are not completed.
    opened: Opened,
    /// Frames that have not been sent, as far as is known, in order.
    withheld: VecDeque<Withheld>,
    /// Total length of these frames.
    unsent: u64,
    /// Tasks and threads that wait for credit or for a request number.
    wanting: Vec<Waker>,
    /// True if the request numbers were exhausted and one was released.
    has_freed: bool,
    ended: bool,
    /// True if this side makes no more requests.
    has_stopped: bool,
}

impl Ledger {
    /// `inward` is the window announced to the peer, `out` the one announced by it. Both have at
    /// most 65,535 messages.
    pub(super) fn new(out: Window, inward: Window) -> Self {
        Self {
            out,
            inward,
            due_messages: 0,
            due_bytes: 0,
            calls: Vec::new(),
            free: Vec::new(),
            opened: Opened::new(inward.messages),
            withheld: VecDeque::new(),
            unsent: 0,
            wanting: Vec::new(),
            has_freed: false,
            ended: false,
            has_stopped: false,
        }
    }

    /// Checks that there is credit for a request of `length` bytes.
    pub(super) fn has_credit(&self, length: u64) -> Result<(), Held> {
        if self.ended || self.has_stopped {
            return Err(Held::Ended);
        }
        if self.out.has_room(length) && !self.is_out_of_numbers() {
            Ok(())
        } else {
            Err(Held::NoCredit)
        }
    }

    /// Takes credit for a one-way message of `length` bytes. Returns the credit that it carries to
    /// the peer.
    #[inline]
    pub(super) fn charge(&mut self, length: u64) -> Result<Credit, Held> {
        if self.ended {
            return Err(Held::Ended);
        }
        if !self.out.charge(length) {
            return Err(Held::NoCredit);
        }
        Ok(self.take_due())
    }

    /// Begins a request of `length` bytes. Returns its number, and the credit that it carries to
    /// the peer.
    #[inline]
    pub(super) fn begin(&mut self, length: u64) -> Result<(u32, Credit), Held> {
        if self.has_stopped {
            return Err(Held::Ended);
        }
        if self.is_out_of_numbers() {
            return Err(Held::NoCredit);
        }
        let credit = self.charge(length)?;
        let index = self.free.pop().unwrap_or_else(|| {
            // The check above leaves room for the number.
            let index = u16::try_from(self.calls.len()).unwrap_or(u16::MAX);
            self.calls.push(CallSlot {
                generation: 0,
                call: Call::Free,
            });
            index
        });
        let place = self.calls.get_mut(usize::from(index));
        let generation = place.map_or(0, |place| {
            place.call = Call::Waiting(None);
            place.generation
        });
        // The generation tells a late answer from one to the next request in the same slot.
        Ok((u32::from(index) | (u32::from(generation) << 16), credit))
    }

    fn slot(&mut self, number: u32) -> Option<&mut CallSlot> {
        let place = self.calls.get_mut((number & 0xffff) as usize)?;
        (u32::from(place.generation) == number >> 16).then_some(place)
    }

    fn release(&mut self, number: u32) -> Option<Call> {
        let place = self.slot(number)?;
        let call = mem::replace(&mut place.call, Call::Free);
        place.generation = place.generation.wrapping_add(1);
        self.add_free(number);
        Some(call)
    }

    #[inline]
    fn add_free(&mut self, number: u32) {
        // Senders wait for a number only if there was none.
        self.has_freed |= self.is_out_of_numbers();
        self.free.push(u16::try_from(number & 0xffff).unwrap_or(0));
    }

    /// Returns true if the request numbers are exhausted. Answers that were not taken keep their
    /// numbers.
    #[inline]
    fn is_out_of_numbers(&self) -> bool {
        self.free.is_empty() && self.calls.len() > usize::from(u16::MAX)
    }

    /// Returns the number of requests whose answers were not taken.
    #[inline]
    pub(super) fn outstanding(&self) -> usize {
        self.calls.len().saturating_sub(self.free.len())
    }

    /// Returns the urgency of a frame: while a request is outstanding, more may follow before its
    /// answer arrives.
    #[inline]
    pub(super) fn haste(&self) -> Haste {
        if self.outstanding() > 0 {
            Haste::Asking
        } else {
            Haste::Now
        }
    }

    /// Reverts a request that was begun but not sent.
    pub(super) fn unsend(&mut self, number: u32, length: u64, credit: Credit) {
        self.uncharge(length, credit);
        self.release(number);
    }

    /// Reverts a one-way message that was charged but not sent.
    pub(super) fn uncharge(&mut self, length: u64, credit: Credit) {
        // The credit that the message was to carry is still due.
        self.due_messages = self.due_messages.saturating_add(u32::from(credit.messages));
        self.due_bytes = self.due_bytes.saturating_add(credit.bytes);
        self.inward.messages_out = self
            .inward
            .messages_out
            .saturating_add(u32::from(credit.messages));
        self.inward.bytes_out = self.inward.bytes_out.saturating_add(credit.bytes);
        self.out.messages_out = self.out.messages_out.saturating_sub(1);
        self.out.bytes_out = self.out.bytes_out.saturating_sub(length);
    }

    /// Adds credit returned by the peer. Moves the wakers that wait for it to `wake`.
    #[inline]
    pub(super) fn absorb(
        &mut self,
        credit: Credit,
        wake: &mut Vec<Waker>,
    ) -> Result<(), Violation> {
        if credit == Credit::default() {
            return Ok(());
        }
        // A peer that returns more than was used would let this side exceed the peer's window
        // later.
        if !self.out.restore(credit) {
            return Err(Violation("credit exceeds the messages that were sent"));
        }
        // All are woken: the credit may suffice for several of them.
        if !self.wanting.is_empty() {
            wake.append(&mut self.wanting);
        }
        Ok(())
    }

    /// Registers `task` to be woken when there is credit, or the connection has ended.
    pub(super) fn want(&mut self, task: &Waker) {
        if !self.wanting.iter().any(|other| other.will_wake(task)) {
            self.wanting.push(task.clone());
        }
    }

    /// Takes the wakers that wait for credit, because there is unused credit.
    pub(super) fn take_wanting(&mut self) -> Vec<Waker> {
        mem::take(&mut self.wanting)
    }

    /// Records a message of the peer, which is a request if it has a number. Returns [`FULL`]
    /// without a side effect if the window is exhausted.
    #[inline]
    pub(super) fn accept(&mut self, number: Option<u32>, length: u64) -> Result<Number, Violation> {
        // Charged first, so that a message beyond the window has no effect: the caller tries again
        // when it knows which frames were sent.
        if !self.inward.charge(length) {
            return Err(FULL);
        }
        match number {
            Some(number) => self.opened.open(number),
            None => Ok(self.opened.enter_told()),
        }
    }

    /// Registers the task of a suspended handler. Returns false, and registers nothing, if its
    /// message was cancelled or the connection has ended.
    pub(super) fn register_task(&mut self, number: Number, task: &Arc<dyn Cancel>) -> bool {
        let ended = self.ended;
        match self.opened.get(number) {
            Some(place) if matches!(place.open, Open::Running) => {
                let wanted = !ended && !place.cancelled;
                if wanted {
                    place.open = Open::Moved(task.clone());
                }
                wanted
            }
            _ => true,
        }
    }

    /// Returns true if the answer to an open request is not wanted.
    pub(super) fn is_cancelled(&mut self, number: Number) -> bool {
        self.ended || self.opened.get(number).is_some_and(|place| place.cancelled)
    }

    /// Completes a message of the peer. Returns the credit for the frame that reports this.
    #[inline]
    pub(super) fn close(&mut self, number: Number, length: u64) -> (Credit, Open) {
        let open = self.complete(number, length);
        (self.take_due(), open)
    }

    /// As [`close`](Self::close), if no frame reports this. Returns credit only if so much is due
    /// that it should be sent in a frame of its own.
    pub(super) fn close_silently(&mut self, number: Number, length: u64) -> (Option<Credit>, Open) {
        let open = self.complete(number, length);
        // Half of the window bounds the number of such frames, and leaves the peer the other half
        // to send with meanwhile.
        let is_time = self.due_messages >= (self.inward.messages / 2).max(1)
            || self.due_bytes >= (self.inward.bytes / 2).max(1);
        (is_time.then(|| self.take_due()), open)
    }

    #[inline]
    fn complete(&mut self, number: Number, length: u64) -> Open {
        self.due_messages = self.due_messages.saturating_add(1);
        self.due_bytes = self.due_bytes.saturating_add(length);
        self.opened.close(number)
    }

    /// Records that a frame of `length` bytes that carries `credit` was queued at position `place`.
    /// Until it is sent, the peer can't use that credit. Frames must be recorded in order.
    pub(super) fn withhold(&mut self, credit: Credit, length: u64, place: u64) {
        self.unsent = self.unsent.saturating_add(length);
        // The credit was given to the frame, and is taken back until the frame is sent. A peer that
        // used it before would exceed the window.
        self.inward.messages_out = self
            .inward
            .messages_out
            .saturating_add(u32::from(credit.messages));
        self.inward.bytes_out = self.inward.bytes_out.saturating_add(credit.bytes);
        self.withheld.push_back(Withheld {
            credit,
            length,
            place,
        });
    }

    /// Returns true if credit may be in frames that were not sent.
    pub(super) fn withholds(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// Records that the frames up to `gone` were sent.
    pub(super) fn record_sent(&mut self, gone: u64) {
        let has_gone = |first: &Withheld| first.place <= gone;
        while self.withheld.front().is_some_and(has_gone) {
            if let Some(first) = self.withheld.pop_front() {
                self.inward.restore(first.credit);
                self.unsent = self.unsent.saturating_sub(first.length);
            }
        }
    }

    /// Returns the number of bytes that wait to be taken by the peer, as far as is known.
    pub(super) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// Returns the number of messages of the peer that are not completed.
    pub(super) fn under_way(&self) -> usize {
        self.opened.count()
    }

    /// Takes the credit that is due to the peer. The peer may use it from now on.
    #[inline]
    pub(super) fn take_due(&mut self) -> Credit {
        if self.due_messages == 0 && self.due_bytes == 0 {
            return Credit::default();
        }
        // A frame has room for a limited number of messages. The rest stays due.
        let credit = Credit::new(self.due_messages, self.due_bytes);
        self.due_messages = self.due_messages.saturating_sub(u32::from(credit.messages));
        self.due_bytes = self.due_bytes.saturating_sub(credit.bytes);
        self.inward.restore(credit);
        credit
    }

    /// Marks a request of the peer as cancelled. Returns its task, if it has one.
    pub(super) fn cancelled(&mut self, number: u32) -> Option<Arc<dyn Cancel>> {
        let place = self.opened.get(Number::Asked(number))?;
        place.cancelled = true;
        match &place.open {
            Open::Moved(task) => Some(task.clone()),
            _ => None,
        }
    }

    /// Refuses further requests of this side, unless one is outstanding. Returns true if they are
    /// refused.
    pub(super) fn stop_requests(&mut self) -> bool {
        self.has_stopped |= self.outstanding() == 0;
        self.has_stopped
    }

    /// Ends the accounting with the connection. Returns the wakers to call, and the tasks to
    /// cancel.
    pub(super) fn end(&mut self) -> (Vec<Waker>, Vec<Arc<dyn Cancel>>) {
        self.ended = true;
        let mut wake = mem::take(&mut self.wanting);
        for place in &mut self.calls {
            if let Call::Waiting(waker) = &mut place.call {
                wake.extend(waker.take());
            }
        }
        (wake, self.opened.end())
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
