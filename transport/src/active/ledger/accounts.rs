//! The accounts as threads share them: the ledger behind its lock, and beside it the request that is alone.
//!
//! Of who makes one request after the other, each begins and ends in a word that the ledger lends its place to, and
//! so does each of those of the peer that come one after the other: what such a request takes of a window its answer
//! gives back, so the ledger need not know of it. Whoever takes the ledger takes back first what it has lent, and
//! finds all in it.

use super::lone::{Lent, Lone, MOST};
use super::{Call, Credit, Held, Ledger, Number};
use crate::active::link::Haste;
use crate::active::sync::{Mutex, MutexGuard, lock};

/// A ledger that is shared.
pub(in crate::active) struct Accounts {
    ledger: Mutex<Ledger>,
    /// A request of this side; lent where there is none, nothing is due, and nobody waits for room.
    asked: Lone,
    /// One of the peer; lent where there is none, and nothing is due.
    opened: Lone,
}

impl Accounts {
    pub(in crate::active) fn new(ledger: Ledger) -> Self {
        Self {
            ledger: Mutex::new(ledger),
            asked: Lone::new(),
            opened: Lone::new(),
        }
    }

    /// The ledger, with all that there is.
    #[inline]
    pub(in crate::active) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.lock_by(Lone::take_back)
    }

    /// As [`lock`](Self::lock), by what takes back what was lent.
    #[inline]
    pub(in crate::active) fn lock_by(
        &self,
        take_back: fn(&Lone) -> Option<Lent>,
    ) -> MutexGuard<'_, Ledger> {
        let mut ledger = lock(&self.ledger);
        if let Some(lent) = take_back(&self.asked) {
            ledger.take_back_asked(lent);
        }
        if let Some(lent) = take_back(&self.opened) {
            ledger.take_back_opened(lent);
        }
        ledger
    }

    /// A request of `length` bytes: its number, what the peer gets back with it, and when it has to go.
    #[inline]
    pub(in crate::active) fn begin(&self, length: u64) -> Result<(u32, Credit, Haste), Held> {
        if let Some(number) = self.asked.begin(length) {
            return Ok((number, Credit::default(), Haste::Now));
        }
        self.begin_noted(length)
    }

    #[inline(never)]
    fn begin_noted(&self, length: u64) -> Result<(u32, Credit, Haste), Held> {
        let mut ledger = self.lock();
        let haste = ledger.haste();
        let (number, credit) = ledger.begin(length)?;
        Ok((number, credit, haste))
    }

    /// As [`Ledger::settle_answer`]. False where nothing was done.
    #[inline]
    pub(in crate::active) fn settle_answer(&self, number: u32, credit: Credit) -> bool {
        let is_alone = credit.messages == 1 && self.asked.end(number, credit.bytes, after(number));
        is_alone || self.settle_noted(number, credit)
    }

    #[inline(never)]
    fn settle_noted(&self, number: u32, credit: Credit) -> bool {
        let mut ledger = self.lock();
        let settled = ledger.settle_answer(number, credit);
        if let Some(number) = ledger.lend_asked() {
            self.asked.lend(number);
        }
        drop(ledger);
        // Who was to be told is dropped without the lock.
        settled.is_some()
    }

    /// A request of the peer has come that gives so much back. False, and nothing was done, where the ledger is to know.
    #[inline]
    pub(in crate::active) fn accept_alone(&self, number: u32, length: u64, credit: Credit) -> bool {
        credit == Credit::default() && self.opened.open(number, length)
    }

    /// A message of the peer is done with. What it gets back with the frame that says so.
    #[inline]
    pub(in crate::active) fn close(&self, number: Number, length: u64) -> Credit {
        if let Number::Asked(asked) = number {
            if self.opened.end(asked, length, asked) {
                return Credit {
                    messages: 1,
                    bytes: length,
                };
            }
        }
        self.close_noted(number, length)
    }

    #[inline(never)]
    fn close_noted(&self, number: Number, length: u64) -> Credit {
        let mut ledger = self.lock();
        let (credit, open) = ledger.close(number, length);
        if ledger.lends_opened() {
            self.opened.lend(0);
        }
        drop(ledger);
        drop(open);
        credit
    }
}

impl Ledger {
    /// The number that the next request has, if that may be accounted for elsewhere.
    fn lend_asked(&mut self) -> Option<u32> {
        let is_plain = !self.ended && self.outstanding() == 0 && self.wanting.is_empty();
        if !is_plain || self.is_due() || !self.out.has_room(MOST) {
            return None;
        }
        let index = self.free.pop()?;
        let place = self.calls.get(usize::from(index))?;
        Some(u32::from(index) | (u32::from(place.generation) << 16))
    }

    #[cold]
    fn take_back_asked(&mut self, lent: Lent) {
        let (number, length) = match lent {
            Lent::Free(number) => (number, None),
            Lent::Taken(number, length) => (number, Some(length)),
        };
        let index = u16::try_from(number & 0xffff).unwrap_or(0);
        if let Some(place) = self.calls.get_mut(usize::from(index)) {
            place.generation = u16::try_from(number >> 16).unwrap_or(0);
            if length.is_some() {
                place.call = Call::Waiting(None);
            }
        }
        match length {
            Some(length) => {
                let has_room = self.out.charge(length);
                debug_assert!(has_room, "there was room before it was lent");
            }
            None => self.free.push(index),
        }
    }

    /// Whether the next request of the peer may be accounted for elsewhere.
    fn lends_opened(&self) -> bool {
        !self.ended && self.opened.has_no_request() && !self.is_due() && self.inward.has_room(MOST)
    }

    #[cold]
    fn take_back_opened(&mut self, lent: Lent) {
        if let Lent::Taken(number, length) = lent {
            let accepted = self.accept(Some(number), length);
            debug_assert!(accepted.is_ok(), "there was room before it was lent");
        }
    }

    fn is_due(&self) -> bool {
        self.due_messages > 0 || self.due_bytes > 0
    }
}

/// The number of the next request that has the place of that one.
#[inline]
fn after(number: u32) -> u32 {
    number.wrapping_add(1 << 16)
}
