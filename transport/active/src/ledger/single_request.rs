//! Fast path: a single request that is accounted for in one atomic word.

use jstream_sync::{AtomicU64, Ordering};

/// Maximum length of such a request, in bytes.
pub(super) const MOST: u64 = 0xffff;

/// Bit position of the length, above the number.
const LENGTH: u32 = 32;
const FREE: u64 = 1 << 62;
const TAKEN: u64 = 1 << 63;

/// The slot of one request. It is either held by the ledger, or lent. A lent slot is free or has a
/// request, and changes without the lock of the ledger.
pub(crate) struct SingleRequest(AtomicU64);

/// State of a slot that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lent {
    /// Free for a request of that number.
    Free(u32),
    /// Used by a request of that number and length in bytes.
    Taken(u32, u64),
}

impl SingleRequest {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Lends the slot for a request of that number. The caller holds the ledger's lock and the
    /// slot.
    pub(super) fn lend(&self, number: u32) {
        self.0.store(FREE | u64::from(number), Ordering::Release);
    }

    /// Begins a request of `length` bytes, with the number of the slot if it has none. Returns the
    /// number, or `None` if the slot is not free.
    #[inline]
    pub(super) fn begin(&self, number: Option<u32>, length: u64) -> Option<u32> {
        let word = self.0.load(Ordering::Relaxed);
        let number = number.unwrap_or_else(|| number_of(word));
        let is_free = word & FREE != 0 && length <= MOST;
        (is_free && self.change(word, taken(number, length))).then_some(number)
    }

    /// Ends a request; the next one gets the number `next`. Returns false if the request is not in
    /// this slot.
    #[inline]
    pub(super) fn end(&self, number: u32, length: u64, next: u32) -> bool {
        let word = taken(number, length);
        length <= MOST
            // Compared before the exchange, which would take the cache line from the other thread
            // also if it fails.
            && self.0.load(Ordering::Relaxed) == word
            && self.change(word, FREE | u64::from(next))
    }

    #[inline]
    fn change(&self, from: u64, to: u64) -> bool {
        // Acquire and release order what is done for one request before the next one in the slot,
        // although no lock does.
        let changed = self
            .0
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
        changed.is_ok()
    }

    /// Takes the slot back, if it was lent. The caller holds the ledger's lock.
    #[inline]
    pub(crate) fn take_back(&self) -> Option<Lent> {
        // Only a thread that holds the ledger's lock lends the slot.
        if self.0.load(Ordering::Relaxed) == 0 {
            return None;
        }
        // A swap, because a thread may begin or end a request between the load and a store.
        lent(self.0.swap(0, Ordering::AcqRel))
    }

    /// Deliberately incorrect variant for a model: the slot may be taken between the load and the
    /// store.
    #[cfg(all(test, loom))]
    pub(crate) fn take_back_late(&self) -> Option<Lent> {
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
