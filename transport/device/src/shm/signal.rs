//! Sleeping, waking and lending of memory, by means of words of the shared memory.
//!
//! The side that changes a word wakes the other side if that sleeps. Before a side sleeps, it sets
//! its armed word and then checks the changed word once more:
//!
//! ```text
//! change the word          set the armed word
//! ---- barrier ----        ---- barrier ----
//! other side armed?        word changed?
//! ```
//!
//! At least one side sees the step of the other one. This is the protocol of a
//! [`DekkerFlag`](jstream_sync::flag::DekkerFlag) of frequent sleepers: each side executes a fence.
//! The flag itself is a word that the other process can write, and a byte on a socket wakes the
//! sleeping side.
//!
//! Decision 111 has the reasons.

use std::sync::atomic::{AtomicU64, Ordering};

use jstream_sync::fence;

/// An atomic word of a ring: in shared memory, or in a model.
pub(super) trait Word {
    fn get(&self, ordering: Ordering) -> u64;
    fn set(&self, value: u64, ordering: Ordering);
    fn replace(&self, value: u64, ordering: Ordering) -> u64;
}

impl Word for AtomicU64 {
    #[inline]
    fn get(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline]
    fn set(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    #[inline]
    fn replace(&self, value: u64, ordering: Ordering) -> u64 {
        self.swap(value, ordering)
    }
}

#[cfg(loom)]
impl Word for loom::sync::atomic::AtomicU64 {
    #[inline]
    fn get(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    #[inline]
    fn set(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    #[inline]
    fn replace(&self, value: u64, ordering: Ordering) -> u64 {
        self.swap(value, ordering)
    }
}

/// Stores `value` for the other side, and publishes all earlier writes with it. Returns true if the
/// other side sleeps and must be woken. In this case `armed` is cleared, so only one call returns
/// true.
#[inline]
pub(super) fn publish<W: Word>(word: &W, value: u64, armed: &W) -> bool {
    word.set(value, Ordering::Release);
    wanted(armed)
}

/// Does the same as [`publish`] for a value that was stored before.
#[inline]
pub(super) fn wanted<W: Word>(armed: &W) -> bool {
    fence(Ordering::SeqCst);
    armed.get(Ordering::Relaxed) != 0 && armed.replace(0, Ordering::Relaxed) != 0
}

/// Announces that this side is about to sleep. The caller must check its condition only afterwards.
pub(super) fn arm<W: Word>(armed: &W) {
    armed.set(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
}

/// Withdraws the announcement: this side does not sleep.
pub(super) fn disarm<W: Word>(armed: &W) {
    armed.set(0, Ordering::Relaxed);
}

/// Copies memory that the other side lends, by calling `copy`. Returns `None` unless the memory was
/// lent until the copy was complete. If the lender gave up earlier, the copy is discarded, and
/// later changes of the flag do not make it valid.
pub(super) fn borrow<W: Word, R>(
    copying: &W,
    abandoned: &W,
    copy: impl FnOnce() -> R,
) -> Option<R> {
    copying.set(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    let is_lent = || abandoned.get(Ordering::Acquire) == 0;
    let copied = is_lent().then(copy);
    // Orders the reads of the copy before the second check of the flag.
    fence(Ordering::Acquire);
    let copied = copied.filter(|_| is_lent());
    copying.set(0, Ordering::Release);
    copied
}

/// Stops lending memory. The other side may still read it while [`is_copying`] returns true.
pub(super) fn give_up<W: Word>(abandoned: &W) {
    abandoned.set(1, Ordering::Release);
    fence(Ordering::SeqCst);
}

/// Returns true while the other side is in [`borrow`].
pub(super) fn is_copying<W: Word>(copying: &W) -> bool {
    copying.get(Ordering::Acquire) != 0
}
