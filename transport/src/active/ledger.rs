//! What both sides owe each other, without I/O: windows, requests that wait for their answers, and those of
//! the peer that are open.
//!
//! A side sends only within the window that the other one told it: so many messages, and so many bytes. What
//! is done with, the other side gives back, with whatever frame goes its way next. Answers need no room: who
//! asks for one has kept a place for it.

mod accounts;
mod calls;
mod lone;
mod opened;
mod window;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::task::Waker;

pub(super) use self::accounts::Accounts;
pub(super) use self::calls::Answer;
use self::calls::{Call, CallSlot};
#[cfg(all(test, loom))]
pub(super) use self::lone::{Lent, Lone};
use self::opened::Opened;
pub(super) use self::opened::{Number, Open};
pub(super) use self::window::Window;
use super::frame::Credit;
use super::link::Haste;
use super::task::Cancel;

/// A frame that waits behind others.
struct Withheld {
    credit: Credit,
    length: u64,
    /// Its place among all that were posted.
    place: u64,
}

/// The peer does what nobody of this version does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Violation(pub(super) &'static str);

/// What the peer may send is under way already.
pub(super) const FULL: Violation = Violation("it sends more than its window allows");

/// The accounts of one connection.
pub(super) struct Ledger {
    /// What this side may send, and what the peer may.
    out: Window,
    inward: Window,
    /// What the peer is to get back.
    due_messages: u32,
    due_bytes: u64,
    calls: Vec<CallSlot>,
    free: Vec<u16>,
    /// What the peer has sent that is not done with.
    opened: Opened,
    /// Frames that have not gone yet, as far as is known, in order.
    withheld: VecDeque<Withheld>,
    /// The sum of these lengths.
    unsent: u64,
    /// Those who wait for credit, or for the number of a request.
    wanting: Vec<Waker>,
    /// There were no numbers, and one is free now.
    has_freed: bool,
    ended: bool,
}

/// Why a request can't go now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    NoCredit,
    Ended,
}

impl Ledger {
    /// `inward` was told to the peer, `out` by it. Both have at most 65,535 messages.
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
        }
    }

    /// Whether there is room for a request of `length` bytes.
    pub(super) fn has_credit(&self, length: u64) -> Result<(), Held> {
        if self.ended {
            return Err(Held::Ended);
        }
        if self.out.has_room(length) && !self.is_out_of_numbers() {
            Ok(())
        } else {
            Err(Held::NoCredit)
        }
    }

    /// Room for a message of `length` bytes that nobody answers.
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

    /// A request of `length` bytes: its number, and what the peer gets back with it.
    #[inline]
    pub(super) fn begin(&mut self, length: u64) -> Result<(u32, Credit), Held> {
        if self.is_out_of_numbers() {
            return Err(Held::NoCredit);
        }
        let credit = self.charge(length)?;
        let index = self.free.pop().unwrap_or_else(|| {
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
        Ok((u32::from(index) | (u32::from(generation) << 16), credit))
    }

    /// How many requests there are whose answers were not taken.
    #[inline]
    pub(super) fn outstanding(&self) -> usize {
        self.calls.len().saturating_sub(self.free.len())
    }

    /// When what is sent has to go: whoever has asked something may ask more before the answer comes.
    #[inline]
    pub(super) fn haste(&self) -> Haste {
        if self.outstanding() > 0 {
            Haste::Asking
        } else {
            Haste::Now
        }
    }

    /// A request that was begun was not sent after all.
    pub(super) fn unsend(&mut self, number: u32, length: u64, credit: Credit) {
        self.uncharge(length, credit);
        self.release(number);
    }

    /// The same of a message that nobody answers.
    pub(super) fn uncharge(&mut self, length: u64, credit: Credit) {
        // What the message was to give back is still due.
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

    /// What the peer gives back. Those who wait for it go to `wake`.
    #[inline]
    pub(super) fn absorb(
        &mut self,
        credit: Credit,
        wake: &mut Vec<Waker>,
    ) -> Result<(), Violation> {
        if credit == Credit::default() {
            return Ok(());
        }
        if !self.out.restore(credit) {
            return Err(Violation("it gives back more than was sent"));
        }
        if !self.wanting.is_empty() {
            wake.append(&mut self.wanting);
        }
        Ok(())
    }

    /// Has `task` told when there is credit, or none will be.
    pub(super) fn want(&mut self, task: &Waker) {
        if !self.wanting.iter().any(|other| other.will_wake(task)) {
            self.wanting.push(task.clone());
        }
    }

    /// Those who wait for credit, where there is some that was not used.
    pub(super) fn take_wanting(&mut self) -> Vec<Waker> {
        mem::take(&mut self.wanting)
    }

    /// A message of the peer has come: a request, if it has a number. Where the window is [`FULL`] nothing was done.
    #[inline]
    pub(super) fn accept(&mut self, number: Option<u32>, length: u64) -> Result<Number, Violation> {
        if !self.inward.charge(length) {
            return Err(FULL);
        }
        match number {
            Some(number) => self.opened.open(number),
            None => Ok(self.opened.enter_told()),
        }
    }

    /// The handler of a message waits. False when the connection has ended: then it is not noted.
    pub(super) fn note_moved(&mut self, number: Number, task: &Arc<dyn Cancel>) -> bool {
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

    /// Whether nobody wants the answer to a request that is open.
    pub(super) fn is_cancelled(&mut self, number: Number) -> bool {
        self.ended || self.opened.get(number).is_some_and(|place| place.cancelled)
    }

    /// A message of the peer is done with. What it gets back with the frame that says so.
    #[inline]
    pub(super) fn close(&mut self, number: Number, length: u64) -> (Credit, Open) {
        let open = self.settle(number, length);
        (self.take_due(), open)
    }

    /// As [`close`](Self::close), where no frame goes; there is credit only where it is time for a frame of
    /// its own.
    pub(super) fn close_silently(&mut self, number: Number, length: u64) -> (Option<Credit>, Open) {
        let open = self.settle(number, length);
        let is_time = self.due_messages >= (self.inward.messages / 2).max(1)
            || self.due_bytes >= (self.inward.bytes / 2).max(1);
        (is_time.then(|| self.take_due()), open)
    }

    #[inline]
    fn settle(&mut self, number: Number, length: u64) -> Open {
        self.due_messages = self.due_messages.saturating_add(1);
        self.due_bytes = self.due_bytes.saturating_add(length);
        self.opened.close(number)
    }

    /// A frame of `length` bytes that gives so much back waits behind others, at that place. Until it has gone the peer has
    /// not got it. Frames are told in order.
    pub(super) fn withhold(&mut self, credit: Credit, length: u64, place: u64) {
        self.unsent = self.unsent.saturating_add(length);
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

    /// Whether there may be something that was not given yet.
    pub(super) fn withholds(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// Those up to that place have gone.
    pub(super) fn give(&mut self, gone: u64) {
        let has_gone = |first: &Withheld| first.place <= gone;
        while self.withheld.front().is_some_and(has_gone) {
            if let Some(first) = self.withheld.pop_front() {
                self.inward.restore(first.credit);
                self.unsent = self.unsent.saturating_sub(first.length);
            }
        }
    }

    /// How many bytes wait to be taken by the peer, as far as is known.
    pub(super) fn unsent(&self) -> u64 {
        self.unsent
    }

    /// How many messages of the peer are not done with.
    pub(super) fn under_way(&self) -> usize {
        self.opened.count()
    }

    /// What the peer is to get back; from now on it may use it.
    #[inline]
    pub(super) fn take_due(&mut self) -> Credit {
        if self.due_messages == 0 && self.due_bytes == 0 {
            return Credit::default();
        }
        let credit = Credit::of(self.due_messages, self.due_bytes);
        self.due_messages = self.due_messages.saturating_sub(u32::from(credit.messages));
        self.due_bytes = self.due_bytes.saturating_sub(credit.bytes);
        self.inward.restore(credit);
        credit
    }

    /// Nobody wants the answer to a request any more: its task, if it has one.
    pub(super) fn cancelled(&mut self, number: u32) -> Option<Arc<dyn Cancel>> {
        let place = self.opened.get(Number::Asked(number))?;
        place.cancelled = true;
        match &place.open {
            Open::Moved(task) => Some(task.clone()),
            _ => None,
        }
    }

    /// The connection is gone: those who wait are woken, those who work for the peer are cancelled.
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
