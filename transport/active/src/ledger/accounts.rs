//! The shared accounting of a connection: the ledger under its lock, and a fast path for a single
//! request beside it.
//!
//! While requests of a side follow one another, each of them begins and ends in an atomic word to
//! which the ledger has lent a slot. The same holds for requests of the peer. The answer to such a
//! request returns exactly the credit that the request took, so the ledger need not know of it. A
//! thread that locks the ledger first takes back the lent slots, and so finds the complete state in
//! it.

use std::sync::Arc;
use std::task::Waker;

use super::call::Call;
use super::opened::{Cancel, Number};
use super::outcomes::{Haste, Held};
use super::single_request::{Lent, MOST, SingleRequest};
use super::{Credit, Ledger};
use jstream_sync::callbacks;
use jstream_sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, lock};

/// A ledger that is shared by threads.
pub(crate) struct Accounts {
    ledger: Mutex<Ledger>,
    /// Number of answers recorded in the ledger. It, `has_ended` and `backlog` change under the
    /// lock of the ledger.
    answers: AtomicU64,
    has_ended: AtomicBool,
    /// True if this side should make no more requests. Always true once the connection has ended.
    is_retired: AtomicBool,
    /// Number of bytes that the peer has not taken, when last checked.
    backlog: AtomicU64,
    /// A request of this side. The slot is lent if there is no such request, no credit is due, and
    /// no sender waits for credit.
    asked: SingleRequest,
    /// A request of the peer. The slot is lent if there is no such request, and no credit is due.
    opened: SingleRequest,
}

impl Accounts {
    pub(crate) fn new(ledger: Ledger) -> Self {
        Self {
            ledger: Mutex::new(ledger),
            answers: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            is_retired: AtomicBool::new(false),
            backlog: AtomicU64::new(0),
            asked: SingleRequest::new(),
            opened: SingleRequest::new(),
        }
    }

    /// Locks the ledger, after taking back the lent slots.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.lock_by(SingleRequest::take_back)
    }

    /// As [`lock`](Self::lock), with the function that takes back a lent slot.
    #[inline]
    pub(crate) fn lock_by(
        &self,
        take_back: fn(&SingleRequest) -> Option<Lent>,
    ) -> MutexGuard<'_, Ledger> {
        // The slots are taken back under the lock, because only its holder lends them. So the state
        // is complete until the lock is released.
        let mut ledger = lock(&self.ledger);
        if let Some(lent) = take_back(&self.asked) {
            ledger.take_back_asked(lent);
        }
        if let Some(lent) = take_back(&self.opened) {
            ledger.take_back_opened(lent);
        }
        ledger
    }

    /// Returns the number of answers recorded so far. A change means that an awaited answer may be
    /// there.
    #[inline]
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Acquire)
    }

    /// Counts an answer in the locked ledger.
    pub(crate) fn count_answer(&self, _: &MutexGuard<'_, Ledger>) {
        // A load and a store are enough, because the ledger is locked.
        let answers = self.answers.load(Ordering::Relaxed);
        self.answers
            .store(answers.wrapping_add(1), Ordering::Release);
    }

    /// Ends the accounting with the connection. Returns the wakers to call, and the tasks to
    /// cancel.
    pub(crate) fn end(&self) -> (Vec<Waker>, Vec<Arc<dyn Cancel>>) {
        let mut ledger = self.lock();
        // The count comes last: a thread that sees the new number finds the end.
        let ended = ledger.end();
        self.has_ended.store(true, Ordering::Release);
        self.is_retired.store(true, Ordering::Release);
        self.count_answer(&ledger);
        ended
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Records that this side should make no more requests.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }

    /// Refuses further requests of this side, unless one is outstanding. Returns true if they are
    /// refused.
    pub(crate) fn stop_requests(&self) -> bool {
        // The lock takes back a lent slot, and none is lent from then on.
        self.lock().stop_requests()
    }

    /// Records that a frame of `length` bytes that carries `credit` was queued at position `place`,
    /// and that the frames up to `gone` were sent.
    pub(crate) fn withhold(&self, credit: Credit, length: u64, place: u64, gone: u64) {
        let mut ledger = self.lock();
        ledger.withhold(credit, length, place);
        ledger.record_sent(gone);
        self.backlog.store(ledger.unsent(), Ordering::Relaxed);
    }

    /// Returns the number of sent bytes that the peer has not taken. `gone` returns the position up
    /// to which frames were sent. Takes no lock if there are no such bytes.
    #[inline]
    pub(crate) fn backlog(&self, gone: impl FnOnce() -> u64) -> u64 {
        // Only a frame that was posted makes this number positive, so without one the lock is not
        // needed.
        if self.backlog.load(Ordering::Relaxed) == 0 {
            return 0;
        }
        // Asked without the lock of the ledger: frames are recorded under the lock of the send
        // direction, so the order is the other way round.
        let gone = gone();
        let mut ledger = self.lock();
        ledger.record_sent(gone);
        let backlog = ledger.unsent();
        self.backlog.store(backlog, Ordering::Relaxed);
        backlog
    }

    /// Begins a request of `length` bytes. Returns its number, the credit that it carries, and its
    /// urgency.
    #[inline]
    pub(crate) fn begin(&self, length: u64) -> Result<(u32, Credit, Haste), Held> {
        // A lent slot implies that no credit is due and nothing else is outstanding, so the frame
        // carries none and is sent at once.
        if let Some(number) = self.asked.begin(None, length) {
            return Ok((number, Credit::default(), Haste::Now));
        }
        self.begin_in_ledger(length)
    }

    #[inline(never)]
    fn begin_in_ledger(&self, length: u64) -> Result<(u32, Credit, Haste), Held> {
        let mut ledger = self.lock();
        // Asked before the request begins, because it must not count itself.
        let haste = ledger.haste();
        let (number, credit) = ledger.begin(length)?;
        Ok((number, credit, haste))
    }

    /// As [`Ledger::settle_answer`]. Returns false if it had no effect.
    #[inline]
    pub(crate) fn settle_answer(&self, number: u32, credit: Credit) -> bool {
        // The answer to such a request returns the credit of one message of that length. Any other
        // answer is for the ledger.
        let is_alone = credit.messages == 1 && self.asked.end(number, credit.bytes, after(number));
        is_alone || self.settle_in_ledger(number, credit)
    }

    #[inline(never)]
    fn settle_in_ledger(&self, number: u32, credit: Credit) -> bool {
        let mut ledger = self.lock();
        let settled = ledger.settle_answer(number, credit);
        // Lent under the lock of the ledger: a thread that locks it next takes the slot back.
        if let Some(number) = ledger.lend_asked() {
            self.asked.lend(number);
        }
        drop(ledger);
        let is_settled = settled.is_some();
        // The waker is dropped without the lock.
        callbacks::discard(settled.flatten());
        is_settled
    }

    /// Records a request of the peer that carries `credit`. Returns false without a side effect if
    /// it must be recorded in the ledger.
    #[inline]
    pub(crate) fn accept_alone(&self, number: u32, length: u64, credit: Credit) -> bool {
        // Credit has to be absorbed by the ledger, where senders may wait for it.
        credit == Credit::default() && self.opened.begin(Some(number), length).is_some()
    }

    /// Completes a message of the peer. Returns the credit for the frame that reports this.
    #[inline]
    pub(crate) fn close(&self, number: Number, length: u64) -> Credit {
        if let Number::Asked(asked) = number {
            if self.opened.end(asked, length, asked) {
                return Credit {
                    messages: 1,
                    bytes: length,
                };
            }
        }
        self.close_in_ledger(number, length)
    }

    #[inline(never)]
    fn close_in_ledger(&self, number: Number, length: u64) -> Credit {
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
    /// Returns the number of the next request, if it may be accounted for outside the ledger.
    fn lend_asked(&mut self) -> Option<u32> {
        let is_open = !self.ended && !self.has_stopped;
        let is_plain = is_open && self.outstanding() == 0 && self.wanting.is_empty();
        // A request in the slot is not checked against the window, so there must be room for the
        // longest one.
        if !is_plain || self.is_due() || !self.out.has_room(MOST) {
            return None;
        }
        // The first request of a connection adds a slot to the ledger. Before that, there is none
        // to lend.
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
        // Each request in the lent slot has advanced the generation without the ledger.
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

    /// Returns true if the next request of the peer may be accounted for outside the ledger.
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

/// Returns the number of the next request in the same slot.
#[inline]
fn after(number: u32) -> u32 {
    number.wrapping_add(1 << 16)
}
