//! Lock-free bounded single-producer single-consumer queue.
//!
//! Each slot has a stamp: the number of the value in it. A consumer that waits for a value polls
//! the cache line in which the value arrives, so a single line moves between the cores. Free slots
//! are counted separately; the producer reads that count only when the queue seems to be full.

use crate::{Arc, AtomicU64, CacheLines, Ordering, UnsafeCell};

/// The slots, and the number of values that were taken.
///
/// Invariant: Value `n` is written to slot `n % slots`. The producer writes it only when `taken` is
/// greater than `n - slots`, and publishes it with the stamp `n + 1`. A thread that has seen this
/// stamp owns the value until `taken` is greater than `n`. There is one [`Filler`], which alone
/// writes stamps, and one [`Emptier`], which alone writes `taken`.
struct ValueRing<T> {
    /// The number of slots is a power of two.
    slots: Box<[ValueSlot<T>]>,
    taken: CacheLines<AtomicU64>,
}

/// Aligned to cache lines; otherwise a value that fits into one line would occupy two.
#[repr(C, align(128))]
struct ValueSlot<T> {
    stamp: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: By the invariant, each value is owned by one thread at a time.
unsafe impl<T: Send> Send for ValueRing<T> {}
// SAFETY: As above.
unsafe impl<T: Send> Sync for ValueRing<T> {}

impl<T> ValueRing<T> {
    fn slot(&self, number: u64) -> &ValueSlot<T> {
        let mask = (self.slots.len() as u64).wrapping_sub(1);
        let index = usize::try_from(number & mask).unwrap_or(usize::MAX);
        let Some(slot) = self.slots.get(index) else {
            unreachable!("the mask keeps the index below the number of slots");
        };
        slot
    }
}

/// The producer end.
pub struct Filler<T> {
    ring: Arc<ValueRing<T>>,
    /// Maximum number of queued values: at most the number of slots.
    capacity: u64,
    /// The number of the next value.
    next: u64,
    /// The last value of `ValueRing::taken` that this end has read.
    taken: u64,
}

/// The consumer end.
pub struct Emptier<T> {
    ring: Arc<ValueRing<T>>,
    /// The number of the next value.
    next: u64,
}

/// Observer for threads other than the consumer: tells whether the queue has a value.
pub struct Viewer<T> {
    ring: Arc<ValueRing<T>>,
}

impl<T> Viewer<T> {
    /// Returns true if the next value seems to be there. The consumer itself, and a thread
    /// synchronised with it, never miss a value. For any other thread the result may be stale.
    #[inline]
    pub fn is_filled(&self) -> bool {
        let next = self.ring.taken.0.load(Ordering::Relaxed);
        self.ring.slot(next).stamp.load(Ordering::Relaxed) == next.wrapping_add(1)
    }
}

/// Creates a queue of at most `capacity` values, and at least 1.
pub fn ring<T: Default>(capacity: usize) -> (Filler<T>, Emptier<T>) {
    let capacity = capacity.max(1);
    let slots = (0..capacity.next_power_of_two()).map(|_| ValueSlot {
        stamp: AtomicU64::new(0),
        value: UnsafeCell::new(T::default()),
    });
    let ring = Arc::new(ValueRing {
        slots: slots.collect(),
        taken: CacheLines(AtomicU64::new(0)),
    });
    let filler = Filler {
        ring: ring.clone(),
        capacity: capacity as u64,
        next: 0,
        taken: 0,
    };
    (filler, Emptier { ring, next: 0 })
}

/// Creates a queue as if `count` values had passed through it.
#[doc(hidden)]
#[must_use]
pub fn ring_after<T: Default>(capacity: usize, count: u64) -> (Filler<T>, Emptier<T>) {
    let (mut filler, mut emptier) = ring(capacity);
    let ring = &emptier.ring;
    for before in 0..ring.slots.len() as u64 {
        // Each slot has the stamp of its last value.
        let stamp = count.wrapping_sub(before);
        let last = ring.slot(stamp.wrapping_sub(1));
        last.stamp.store(stamp, Ordering::Relaxed);
    }
    ring.taken.0.store(count, Ordering::Relaxed);
    (filler.next, filler.taken) = (count, count);
    emptier.next = count;
    (filler, emptier)
}

impl<T> Filler<T> {
    /// Returns the number of queued values, which may have decreased since. Reads the consumer's
    /// count only if `most` or more values seem to be queued.
    #[inline]
    pub fn queued(&mut self, most: u64) -> u64 {
        let queued = self.next.wrapping_sub(self.taken);
        if queued < most {
            return queued;
        }
        self.taken = self.ring.taken.0.load(Ordering::Acquire);
        self.next.wrapping_sub(self.taken)
    }

    /// Returns true if there is room for another value.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        let capacity = self.capacity;
        self.queued(capacity) < capacity
    }

    /// Fills the next slot by modifying the slot's previous value. If there is no room, does
    /// nothing and returns false.
    #[inline]
    pub fn fill(&mut self, fill: impl FnOnce(&mut T)) -> bool {
        self.fill_by(fill, Ordering::Release)
    }

    /// As [`fill`](Self::fill), with a memory order that the models choose.
    #[inline]
    pub(super) fn fill_by(&mut self, fill: impl FnOnce(&mut T), order: Ordering) -> bool {
        if !self.has_room() {
            return false;
        }
        let slot = self.ring.slot(self.next);
        slot.value.with_mut(|value| {
            // SAFETY: `has_room` has seen that the previous value was taken. No other thread has
            // accessed the slot since, because its next stamp is not written yet and there is one
            // filler.
            fill(unsafe { &mut *value });
        });
        self.next = self.next.wrapping_add(1);
        slot.stamp.store(self.next, order);
        true
    }
}

impl<T> Emptier<T> {
    /// Returns an observer of the queue.
    pub fn viewer(&self) -> Viewer<T> {
        Viewer {
            ring: self.ring.clone(),
        }
    }

    /// Calls `look` with the next value, if there is one.
    #[inline]
    pub fn front<R>(&mut self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        let slot = self.ring.slot(self.next);
        if slot.stamp.load(Ordering::Acquire) != self.next.wrapping_add(1) {
            return None;
        }
        Some(slot.value.with_mut(|value| {
            // SAFETY: The stamp shows that the value was written, and it is not taken yet. There is
            // one emptier.
            look(unsafe { &mut *value })
        }))
    }

    /// Returns true if there is a next value.
    #[inline]
    pub fn is_filled(&self) -> bool {
        self.ring.slot(self.next).stamp.load(Ordering::Acquire) == self.next.wrapping_add(1)
    }

    /// Frees the slot of the next value, if there is one.
    #[inline]
    pub fn pop(&mut self) {
        self.pop_by(Ordering::Release);
    }

    /// As [`pop`](Self::pop), with a memory order that the models choose.
    #[inline]
    pub(super) fn pop_by(&mut self, order: Ordering) {
        if self.is_filled() {
            self.next = self.next.wrapping_add(1);
            self.ring.taken.0.store(self.next, order);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_and_in_order() {
        // The numbers wrap around during the test.
        for (capacity, before) in [1, 2, 3, 5].into_iter().zip([0, 1, 7, 30]) {
            let (mut filler, mut emptier) =
                ring_after::<usize>(capacity, 0u64.wrapping_sub(before));
            for round in 0..10 {
                for number in 0..capacity {
                    assert!(filler.fill(|value| *value = round + number));
                }
                assert!(!filler.fill(|_| unreachable!()));
                for number in 0..capacity {
                    assert_eq!(emptier.front(|value| *value), Some(round + number));
                    emptier.pop();
                }
                assert!(!emptier.is_filled());
                emptier.pop();
                assert_eq!(emptier.front(|value| *value), None);
            }
        }
    }

    #[test]
    fn two_threads_lose_and_repeat_no_value() {
        const COUNT: u64 = 200_000;
        let (mut filler, mut emptier) = ring::<u64>(3);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for number in 0..COUNT {
                    while !filler.fill(|value| *value = number) {
                        std::thread::yield_now();
                    }
                }
            });
            for number in 0..COUNT {
                while !emptier.is_filled() {
                    std::thread::yield_now();
                }
                assert_eq!(emptier.front(|value| *value), Some(number));
                emptier.pop();
            }
        });
    }
}
