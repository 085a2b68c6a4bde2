//! Which places are given back: a bit of shared memory for each.
//!
//! A message that stands in the sender's outbox is announced with a place, which nobody else's has
//! until it is given back. Whoever drops the message sets the place's bit, and the sender clears those
//! that it finds. A bit always has room, so giving back never waits, and can't be lost.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many messages are out at once: as many bits as a cache line has.
pub(super) const PLACES: usize = 512;
pub(super) const WORDS: usize = PLACES / 64;

/// A word of the shared memory, or of a model.
pub(super) trait Bits {
    fn look(&self) -> u64;
    fn add(&self, bits: u64, ordering: Ordering);
    fn clear(&self, ordering: Ordering) -> u64;
}

impl Bits for AtomicU64 {
    #[inline]
    fn look(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn add(&self, bits: u64, ordering: Ordering) {
        self.fetch_or(bits, ordering);
    }

    #[inline]
    fn clear(&self, ordering: Ordering) -> u64 {
        self.swap(0, ordering)
    }
}

#[cfg(loom)]
impl Bits for loom::sync::atomic::AtomicU64 {
    fn look(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    fn add(&self, bits: u64, ordering: Ordering) {
        self.fetch_or(bits, ordering);
    }

    fn clear(&self, ordering: Ordering) -> u64 {
        self.swap(0, ordering)
    }
}

/// Gives a place back, with all that was done to its memory. Any thread may.
#[inline]
pub(super) fn give_back<B: Bits>(words: &[B], place: usize) {
    if let Some(word) = words.get(place / 64) {
        word.add(1 << (place % 64), Ordering::Release);
    }
}

/// Takes the places of one word that were given back. One side does.
#[inline]
pub(super) fn collect<B: Bits>(word: &B) -> u64 {
    if word.look() == 0 {
        return 0;
    }
    word.clear(Ordering::Acquire)
}
