//! A bounded queue between two threads, without locks.
//!
//! A slot says itself that it is filled, by the number of what it was filled with. So who waits for
//! it looks at the line that the value comes in, and one line goes from core to core. That a slot is
//! free again is counted elsewhere, and looked up only when all seem to be filled.

use super::sync::{Arc, AtomicU64, Line, Ordering, UnsafeCell};

/// The slots, and how many of what was filled in has been taken.
///
/// Invariant: number `n` is filled into slot `n % slots`. That is done when `taken` is more than
/// `n - slots`, and announced by the stamp `n + 1`; who has seen this stamp owns the slot's value
/// until `taken` is more than `n`. There is one [`Filler`], which alone writes stamps, and one
/// [`Emptier`], which alone writes `taken`.
struct Ring<T> {
    /// A power of two of them.
    slots: Box<[Slot<T>]>,
    taken: Line<AtomicU64>,
}

/// Begins with a cache line: else what fits one would be in two.
#[repr(C, align(128))]
struct Slot<T> {
    stamp: AtomicU64,
    value: UnsafeCell<T>,
}

// SAFETY: of the values, only one thread has each at a time, as the invariant says.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    fn slot(&self, number: u64) -> &Slot<T> {
        let mask = (self.slots.len() as u64).wrapping_sub(1);
        let index = usize::try_from(number & mask).unwrap_or(usize::MAX);
        let Some(slot) = self.slots.get(index) else {
            unreachable!("the mask leaves fewer than there are slots");
        };
        slot
    }
}

/// The end at which values go in.
pub(crate) struct Filler<T> {
    ring: Arc<Ring<T>>,
    /// How many there may be at a time: at most as many as there are slots.
    capacity: u64,
    /// The number of the next one.
    next: u64,
    /// How many were taken when this end last looked.
    taken: u64,
}

/// The end at which values come out.
pub(crate) struct Emptier<T> {
    ring: Arc<Ring<T>>,
    /// The number of the next one.
    next: u64,
}

/// Looks whether there is something to take, for others than who takes it.
pub(crate) struct Viewer<T> {
    ring: Arc<Ring<T>>,
}

impl<T> Viewer<T> {
    /// Whether the next value seems to be there. It is not missed by who takes values, or looks after that
    /// one; for anybody else it may have been taken by now.
    #[inline]
    pub(crate) fn is_filled(&self) -> bool {
        let next = self.ring.taken.0.load(Ordering::Relaxed);
        self.ring.slot(next).stamp.load(Ordering::Relaxed) == next.wrapping_add(1)
    }
}

/// A queue of at most `capacity` values, and at least 1.
pub(crate) fn ring<T: Default>(capacity: usize) -> (Filler<T>, Emptier<T>) {
    let capacity = capacity.max(1);
    let slots = (0..capacity.next_power_of_two()).map(|_| Slot {
        stamp: AtomicU64::new(0),
        value: UnsafeCell::new(T::default()),
    });
    let ring = Arc::new(Ring {
        slots: slots.collect(),
        taken: Line(AtomicU64::new(0)),
    });
    let filler = Filler {
        ring: ring.clone(),
        capacity: capacity as u64,
        next: 0,
        taken: 0,
    };
    (filler, Emptier { ring, next: 0 })
}

/// A queue that so many values went through before.
#[cfg(all(test, not(loom)))]
pub(super) fn ring_after<T: Default>(capacity: usize, count: u64) -> (Filler<T>, Emptier<T>) {
    let (mut filler, mut emptier) = ring(capacity);
    let ring = &emptier.ring;
    for before in 0..ring.slots.len() as u64 {
        // Each slot has the stamp of the value that it had last.
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
    /// How many values are in the queue. There may be fewer by now; only when `most` or more seem to
    /// be there it looks again.
    #[inline]
    pub(super) fn queued(&mut self, most: u64) -> u64 {
        let queued = self.next.wrapping_sub(self.taken);
        if queued < most {
            return queued;
        }
        self.taken = self.ring.taken.0.load(Ordering::Acquire);
        self.next.wrapping_sub(self.taken)
    }

    /// Whether one more has room.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        let capacity = self.capacity;
        self.queued(capacity) < capacity
    }

    /// Has the next value made of the one that its slot had last; false, and nothing done, when there
    /// is no room.
    #[inline]
    pub(crate) fn fill(&mut self, fill: impl FnOnce(&mut T)) -> bool {
        self.fill_by(fill, Ordering::Release)
    }

    /// With an order that models choose.
    #[inline]
    pub(super) fn fill_by(&mut self, fill: impl FnOnce(&mut T), order: Ordering) -> bool {
        if !self.has_room() {
            return false;
        }
        let slot = self.ring.slot(self.next);
        slot.value.with_mut(|value| {
            // SAFETY: `has_room` has seen that the value before was taken. It has been seen by
            // nobody else since, as its next stamp is not written yet, and there is one filler.
            fill(unsafe { &mut *value });
        });
        self.next = self.next.wrapping_add(1);
        slot.stamp.store(self.next, order);
        true
    }
}

impl<T> Emptier<T> {
    /// One who looks.
    pub(crate) fn viewer(&self) -> Viewer<T> {
        Viewer {
            ring: self.ring.clone(),
        }
    }

    /// Looks at the next value, if it is there.
    #[inline]
    pub(crate) fn front<R>(&mut self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        let slot = self.ring.slot(self.next);
        if slot.stamp.load(Ordering::Acquire) != self.next.wrapping_add(1) {
            return None;
        }
        Some(slot.value.with_mut(|value| {
            // SAFETY: the stamp says that it was filled, and it is not taken yet. There is one
            // emptier.
            look(unsafe { &mut *value })
        }))
    }

    /// Whether the next value is there.
    #[inline]
    pub(crate) fn is_filled(&self) -> bool {
        self.ring.slot(self.next).stamp.load(Ordering::Acquire) == self.next.wrapping_add(1)
    }

    /// Gives the slot of the next value back, if it is there.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.pop_by(Ordering::Release);
    }

    /// With an order that models choose.
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
        // Numbers wrap on the way.
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
    fn two_threads_see_every_value_once() {
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
