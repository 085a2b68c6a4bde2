//! A request that is accounted for in one word, while there is no other one.

use crate::active::sync::{AtomicU64, Ordering};

/// The longest request there, in bytes.
pub(super) const MOST: u64 = 0xffff;

/// Where its length stands, above its number.
const LENGTH: u32 = 32;
const FREE: u64 = 1 << 62;
const TAKEN: u64 = 1 << 63;

/// The place of one request. The ledger has it, or has lent it: then it is free, or has a request, and changes without
/// the ledger.
pub(in crate::active) struct Lone(AtomicU64);

/// What came back of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::active) enum Lent {
    /// For a request of that number.
    Free(u32),
    /// With a request of that number and so many bytes.
    Taken(u32, u64),
}

impl Lone {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Lends it, to be taken for a request of that number. The caller has the ledger, and the place.
    pub(super) fn lend(&self, number: u32) {
        self.0.store(FREE | u64::from(number), Ordering::Release);
    }

    /// Takes it for a request of so many bytes: its number.
    #[inline]
    pub(super) fn begin(&self, length: u64) -> Option<u32> {
        let word = self.0.load(Ordering::Relaxed);
        let number = number_of(word);
        self.take(word, number, length).then_some(number)
    }

    /// Takes it for a request that has a number. False where it is not free.
    #[inline]
    pub(super) fn open(&self, number: u32, length: u64) -> bool {
        self.take(self.0.load(Ordering::Relaxed), number, length)
    }

    #[inline]
    fn take(&self, word: u64, number: u32, length: u64) -> bool {
        word & FREE != 0 && length <= MOST && self.change(word, taken(number, length))
    }

    /// That request is done with; the next one has the number `next`. False where it is not here.
    #[inline]
    pub(super) fn end(&self, number: u32, length: u64, next: u32) -> bool {
        let word = taken(number, length);
        length <= MOST
            && self.0.load(Ordering::Relaxed) == word
            && self.change(word, FREE | u64::from(next))
    }

    #[inline]
    fn change(&self, from: u64, to: u64) -> bool {
        let changed = self
            .0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
        changed.is_ok()
    }

    /// Takes it back, if it was lent. The caller has the ledger.
    #[inline]
    pub(in crate::active) fn take_back(&self) -> Option<Lent> {
        // It is lent by who has the ledger alone.
        if self.0.load(Ordering::Relaxed) == 0 {
            return None;
        }
        lent(self.0.swap(0, Ordering::AcqRel))
    }

    /// The same with a mistake: it may be taken in between.
    #[cfg(all(test, loom))]
    pub(in crate::active) fn take_back_late(&self) -> Option<Lent> {
        let word = self.0.load(Ordering::Acquire);
        self.0.store(0, Ordering::Release);
        lent(word)
    }
}

fn lent(word: u64) -> Option<Lent> {
    let number = number_of(word);
    if word & TAKEN != 0 {
        return Some(Lent::Taken(number, (word >> LENGTH) & MOST));
    }
    (word & FREE != 0).then_some(Lent::Free(number))
}

#[inline]
fn number_of(word: u64) -> u32 {
    u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0)
}

#[inline]
fn taken(number: u32, length: u64) -> u64 {
    TAKEN | (length << LENGTH) | u64::from(number)
}
