//! Places that the receiver has given back: one bit of shared memory for each place.
//!
//! A message in the sender's outbox is announced with a place, which no other message has until it
//! is given back. The thread that drops the message sets the bit of the place, and the sender
//! clears the bits that it finds. Setting a bit never blocks and cannot be lost.

use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of messages that the receiver can hold: the bits of a cache line.
pub(super) const PLACES: usize = 512;
pub(super) const WORDS: usize = PLACES / 64;

/// An atomic word: in shared memory, or in a model.
pub(super) trait Bits {
    fn load_bits(&self) -> u64;
    fn add(&self, bits: u64, ordering: Ordering);
    fn clear(&self, ordering: Ordering) -> u64;
}

impl Bits for AtomicU64 {
    #[inline]
    fn load_bits(&self) -> u64 {
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
    fn load_bits(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    fn add(&self, bits: u64, ordering: Ordering) {
        self.fetch_or(bits, ordering);
    }

    fn clear(&self, ordering: Ordering) -> u64 {
        self.swap(0, ordering)
    }
}

/// Gives a place back, and publishes all accesses to its memory. Any thread may call this.
#[inline]
pub(super) fn give_back<B: Bits>(words: &[B], place: usize) {
    if let Some(word) = words.get(place / 64) {
        word.add(1 << (place % 64), Ordering::Release);
    }
}

/// Takes the places of one word that were given back. Only the owner of the outbox may call this.
#[inline]
pub(super) fn collect<B: Bits>(word: &B) -> u64 {
    if word.load_bits() == 0 {
        return 0;
    }
    word.clear(Ordering::Acquire)
}
