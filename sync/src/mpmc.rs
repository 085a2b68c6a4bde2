//! Bounded lock-free queue for multiple producers and multiple consumers.
//!
//! The algorithm is Dmitry Vyukov's: each slot has a stamp that says which turn it is in. A waiting
//! consumer reads only the cache line in which the value arrives, not the lines that producers
//! share. For a single producer and a single consumer, the [`ring`](crate::ring) is faster: it needs
//! no compare-and-swap.

use std::hint;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use crate::panics::forget_panic;
use crate::{AtomicU64, CacheLines, Ordering, UnsafeCell};

/// Number of bits of a position that hold the index of a slot. The bits above hold the turn.
const SLOT_BITS: u32 = 16;

/// Largest index of a slot.
const LAST: u64 = (1 << SLOT_BITS) - 1;

/// Maximum capacity of a ring.
pub const MOST: usize = 1 << SLOT_BITS;

/// Slots, with the position of the next push (`tail`) and of the next pop (`head`).
///
/// Invariant: a position consists of a turn and a slot index. In turn `n`, the stamp of the slot is
/// first `2n`: the slot is empty. The one thread that advances `tail` past this position owns the
/// slot. It writes the value, then the stamp `2n + 1`. The slot is now filled. The one thread that
/// advances `head` past this position owns the slot. It takes the value, then writes the stamp of
/// the next turn. No other thread writes the stamp or accesses the value. Turns have 48 bits, so no
/// thread is suspended long enough for a turn to repeat.
pub struct PositionRing<V> {
    slots: Box<[RingSlot<V>]>,
    tail: CacheLines<AtomicU64>,
    head: CacheLines<AtomicU64>,
}

/// Aligned to cache lines, so that a slot that fits one line does not span two.
#[repr(C, align(128))]
struct RingSlot<V> {
    stamp: AtomicU64,
    value: UnsafeCell<MaybeUninit<V>>,
}

// SAFETY: values are moved in and out, and each value is owned by one thread at a time, as the
// invariant says.
unsafe impl<V: Send> Send for PositionRing<V> {}
// SAFETY: as above. No two threads ever have references to the same value.
unsafe impl<V: Send> Sync for PositionRing<V> {}

/// Returns the stamp of a slot that is empty in the turn of `position`.
#[inline]
fn free(position: u64) -> u64 {
    (position >> SLOT_BITS).wrapping_mul(2)
}

/// Returns the stamp of a slot that is filled in the turn of `position`.
#[inline]
fn filled(position: u64) -> u64 {
    free(position).wrapping_add(1)
}

impl<V> PositionRing<V> {
    /// Creates a queue. `capacity` is clamped to 1..=[`MOST`].
    pub fn new(capacity: usize) -> Self {
        let slots = (0..capacity.clamp(1, MOST)).map(|_| RingSlot {
            stamp: AtomicU64::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        });
        Self {
            slots: slots.collect(),
            tail: CacheLines(AtomicU64::new(0)),
            head: CacheLines(AtomicU64::new(0)),
        }
    }

    /// Returns the slot of a position, and the next position.
    #[inline]
    fn at(&self, position: u64) -> (&RingSlot<V>, u64) {
        let index = usize::try_from(position & LAST).unwrap_or(usize::MAX);
        let Some(slot) = self.slots.get(index) else {
            unreachable!("a position has the index of a slot");
        };
        let is_last = index.wrapping_add(1) == self.slots.len();
        let last = if is_last { position | LAST } else { position };
        (slot, last.wrapping_add(1))
    }

    /// Advances `end` past a position whose slot has the `awaited` stamp. The caller owns the value
    /// of the slot until it writes the next stamp. Returns `None` if the slot has another stamp.
    #[inline]
    fn claim(&self, end: &AtomicU64, awaited: fn(u64) -> u64) -> Option<(&RingSlot<V>, u64)> {
        let mut position = end.load(Ordering::Relaxed);
        loop {
            let (slot, next) = self.at(position);
            let now = if slot.stamp.load(Ordering::Acquire) == awaited(position) {
                let relaxed = Ordering::Relaxed;
                match end.compare_exchange_weak(position, next, relaxed, relaxed) {
                    Ok(_) => return Some((slot, position)),
                    Err(now) => now,
                }
            } else {
                let now = end.load(Ordering::Relaxed);
                if now == position {
                    return None;
                }
                now
            };
            position = now;
        }
    }

    /// Pushes a value.
    ///
    /// # Errors
    ///
    /// The value, if there is no room. A slot has room only after its value was taken out
    /// completely.
    #[inline]
    pub fn push(&self, value: V) -> Result<(), V> {
        self.push_by(value, Ordering::Release)
    }

    /// As [`push`](Self::push), with a memory order that models choose.
    #[inline]
    pub(super) fn push_by(&self, value: V, order: Ordering) -> Result<(), V> {
        let Some((slot, position)) = self.claim(&self.tail.0, free) else {
            return Err(value);
        };
        // SAFETY: the stamp said that the slot is empty in this turn. Only the thread that advances
        // `tail` past its position may change that. This thread did so, so it owns the value's
        // memory until it writes the stamp below.
        slot.value
            .with_mut(|place| unsafe { place.cast::<V>().write(value) });
        slot.stamp.store(filled(position), order);
        Ok(())
    }

    /// Pops the next value if it was written completely.
    #[inline]
    pub fn pop(&self) -> Option<V> {
        self.pop_by(Ordering::Release)
    }

    /// As [`pop`](Self::pop), with a memory order that models choose.
    #[inline]
    pub(super) fn pop_by(&self, order: Ordering) -> Option<V> {
        let (slot, position) = self.claim(&self.head.0, filled)?;
        // SAFETY: the stamp said that the slot is filled in this turn. Only the thread that
        // advances `head` past its position may change that. This thread did so, so it owns the
        // value until it writes the stamp below, and takes it exactly once.
        let value = slot
            .value
            .with_mut(|place| unsafe { place.cast::<V>().read() });
        let next_turn = position.wrapping_add(1 << SLOT_BITS);
        slot.stamp.store(free(next_turn), order);
        Some(value)
    }

    /// Returns true if there is no value, and none is being written. The check reads the cache
    /// lines that producers write, so a waiting consumer uses [`pop`](Self::pop) instead.
    pub fn is_empty(&self) -> bool {
        self.head.0.load(Ordering::Acquire) == self.tail.0.load(Ordering::Acquire)
    }

    /// As [`pop`](Self::pop), but waits for values that are being written. `None` means that no
    /// value that was pushed before the call is left.
    pub fn pop_settled(&self) -> Option<V> {
        let mut looks = 0u32;
        loop {
            let value = self.pop();
            if value.is_some() || self.is_empty() {
                return value;
            }
            // Another thread has claimed the slot but has not written the stamp.
            looks = looks.saturating_add(1);
            if looks < 64 {
                hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Drops all values. If dropping a value panics, the others are still dropped, and the first
    /// panic continues then, unless the thread unwinds already.
    pub fn clear(&self) {
        let mut first = None;
        while let Some(value) = self.pop() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                match &first {
                    None => first = Some(panic),
                    Some(_) => forget_panic(panic),
                }
            }
        }
        match first {
            Some(panic) if !thread::panicking() => resume_unwind(panic),
            Some(panic) => forget_panic(panic),
            None => {}
        }
    }
}

impl<V> Drop for PositionRing<V> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    #[test]
    fn it_is_bounded_and_in_order() {
        for capacity in [1, 2, 3, 5, 64] {
            let ring = PositionRing::new(capacity);
            for round in 0..10 {
                for number in 0..capacity {
                    ring.push(round + number).unwrap();
                }
                assert_eq!(ring.push(99), Err(99));
                for number in 0..capacity {
                    assert!(!ring.is_empty());
                    assert_eq!(ring.pop(), Some(round + number));
                }
                assert_eq!(ring.pop_settled(), None);
                assert!(ring.is_empty());
            }
        }
    }

    #[test]
    fn turns_wrap_around_with_the_numbers() {
        for capacity in [1, 3] {
            let ring = PositionRing::<u32>::new(capacity);
            // Start in the last turn before the counter wraps.
            let last = u64::MAX << SLOT_BITS;
            for slot in &ring.slots {
                slot.stamp.store(free(last), Ordering::Relaxed);
            }
            ring.tail.0.store(last, Ordering::Relaxed);
            ring.head.0.store(last, Ordering::Relaxed);
            for number in 0..20 {
                ring.push(number).unwrap();
                assert_eq!(ring.pop(), Some(number));
                assert_eq!(ring.pop(), None);
            }
        }
    }

    #[test]
    fn many_threads_lose_and_repeat_no_value() {
        const EACH: usize = if cfg!(miri) { 100 } else { 30_000 };
        for (capacity, threads) in [(1, 2), (3, 3), (64, 4)] {
            let ring = PositionRing::new(capacity);
            let (sum, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for me in 0..threads {
                    let (ring, sum, taken) = (&ring, &sum, &taken);
                    scope.spawn(move || {
                        for number in 0..EACH {
                            let mut value = Box::new((me, number));
                            while let Err(back) = ring.push(value) {
                                value = back;
                                thread::yield_now();
                            }
                        }
                    });
                    scope.spawn(move || {
                        let mut last = vec![None; threads];
                        while taken.load(Ordering::Relaxed) < threads * EACH {
                            let Some(value) = ring.pop() else {
                                thread::yield_now();
                                continue;
                            };
                            let (who, number) = *value;
                            assert!(last[who] < Some(number), "out of order");
                            last[who] = Some(number);
                            sum.fetch_add(number, Ordering::Relaxed);
                            taken.fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            });
            assert_eq!(sum.into_inner(), threads * EACH * (EACH - 1) / 2);
            assert!(ring.is_empty());
        }
    }

    #[test]
    fn drops_the_rest_if_a_drop_panics() {
        struct Counted<'c>(&'c AtomicUsize, bool);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
                assert!(!self.1, "a drop that panics");
            }
        }
        let count = AtomicUsize::new(0);
        let ring = PositionRing::new(5);
        for panics in [false, true, false, true] {
            assert!(ring.push(Counted(&count, panics)).is_ok());
        }
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(ring)));
        assert!(dropped.is_err());
        assert_eq!(count.into_inner(), 4);
    }
}
