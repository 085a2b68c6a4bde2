//! A bounded queue among threads, without locks: any number of them put values in and take values out.
//!
//! The idea is Vyukov's: a slot says itself whose turn it is. Who waits for a value looks at the line that the
//! value comes in, and at nothing that those who put values in write to for each other.

use std::hint;
use std::mem::{self, MaybeUninit};

use crate::device::inproc::sync::{AtomicU64, Line, Ordering, UnsafeCell};

/// How many bits of a position are the number of a slot; those above are the turn.
const SLOT_BITS: u32 = 16;

/// The last number that a slot can have.
const LAST: u64 = (1 << SLOT_BITS) - 1;

/// The most values that a ring has room for.
pub(super) const MOST: usize = 1 << SLOT_BITS;

/// Slots, and the positions of the next value that goes in and of the next that comes out.
///
/// Invariant: a position is a turn and a slot. In the turn `n`, the slot's stamp is first `2n`: its value is
/// nothing, and whoever moves `tail` from this position on, which one thread does, owns it. That thread writes the
/// value, and then the stamp `2n + 1`. Then the value is there, and whoever moves `head` from this position on,
/// which again one thread does, owns it: that thread takes the value, and then writes the stamp of the next turn.
/// Nobody else writes stamps or touches values. Turns have 48 bits: no thread sleeps as long as these take to come
/// again.
pub(super) struct Ring<V> {
    slots: Box<[Slot<V>]>,
    tail: Line<AtomicU64>,
    head: Line<AtomicU64>,
}

/// Begins with a cache line: else what fits one would be in two.
#[repr(C, align(128))]
struct Slot<V> {
    stamp: AtomicU64,
    value: UnsafeCell<MaybeUninit<V>>,
}

// SAFETY: values are moved in and out, and each is one thread's at a time, as the invariant says.
unsafe impl<V: Send> Send for Ring<V> {}
// SAFETY: as above: no two threads ever have references to one value.
unsafe impl<V: Send> Sync for Ring<V> {}

/// A slot's stamp when it is free for the turn of `position`.
fn free(position: u64) -> u64 {
    (position >> SLOT_BITS).wrapping_mul(2)
}

/// And when it was filled in this turn.
fn filled(position: u64) -> u64 {
    free(position).wrapping_add(1)
}

impl<V> Ring<V> {
    /// A queue of at most `capacity` values, at least 1 and at most [`MOST`].
    pub(super) fn new(capacity: usize) -> Self {
        let slots = (0..capacity.clamp(1, MOST)).map(|_| Slot {
            stamp: AtomicU64::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        });
        Self {
            slots: slots.collect(),
            tail: Line(AtomicU64::new(0)),
            head: Line(AtomicU64::new(0)),
        }
    }

    /// The slot of a position, and the position behind it.
    #[inline]
    fn at(&self, position: u64) -> (&Slot<V>, u64) {
        let index = usize::try_from(position & LAST).unwrap_or(usize::MAX);
        let Some(slot) = self.slots.get(index) else {
            unreachable!("positions have no other slots");
        };
        let is_last = index.wrapping_add(1) == self.slots.len();
        let last = if is_last { position | LAST } else { position };
        (slot, last.wrapping_add(1))
    }

    /// Moves `end` on from a position whose slot has the stamp that is awaited there: its value is the caller's until
    /// it writes the next stamp. `None` when the slot has another one.
    #[inline]
    fn claim(&self, end: &AtomicU64, awaited: fn(u64) -> u64) -> Option<(&Slot<V>, u64)> {
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

    /// Puts a value in.
    ///
    /// # Errors
    ///
    /// The value, when there is no room: a slot is free when its value was taken out completely.
    #[inline]
    pub(super) fn push(&self, value: V) -> Result<(), V> {
        self.push_by(value, Ordering::Release)
    }

    /// With an order that models choose.
    #[inline]
    pub(super) fn push_by(&self, value: V, order: Ordering) -> Result<(), V> {
        let Some((slot, position)) = self.claim(&self.tail.0, free) else {
            return Err(value);
        };
        // SAFETY: the slot was seen to be free for this turn, which nobody changes but who moves `tail` on from its
        // position. That was this thread, so the place is its own until the stamp below.
        slot.value
            .with_mut(|place| unsafe { place.cast::<V>().write(value) });
        slot.stamp.store(filled(position), order);
        Ok(())
    }

    /// Takes the next value out, if it is there completely.
    #[inline]
    pub(super) fn pop(&self) -> Option<V> {
        self.pop_by(Ordering::Release)
    }

    /// With an order that models choose.
    #[inline]
    pub(super) fn pop_by(&self, order: Ordering) -> Option<V> {
        let (slot, position) = self.claim(&self.head.0, filled)?;
        // SAFETY: the slot was seen to be filled in this turn, which nobody changes but who moves `head` on from its
        // position. That was this thread, so the value is its own until the stamp below, and is taken this once.
        let value = slot
            .value
            .with_mut(|place| unsafe { place.cast::<V>().read() });
        let next_turn = position.wrapping_add(1 << SLOT_BITS);
        slot.stamp.store(free(next_turn), order);
        Some(value)
    }

    /// Whether no value is there, and none on its way in. To look at that costs those who put values in, who
    /// write to the line: so who waits for a value looks for it by [`pop`](Self::pop).
    pub(super) fn is_empty(&self) -> bool {
        self.head.0.load(Ordering::Acquire) == self.tail.0.load(Ordering::Acquire)
    }

    /// As [`pop`](Self::pop), but waits for values whose writers have gone on: `None` says that there is none which
    /// somebody had put in before.
    pub(super) fn pop_settled(&self) -> Option<V> {
        let mut looks = 0u32;
        loop {
            let value = self.pop();
            if value.is_some() || self.is_empty() {
                return value;
            }
            // Another thread is between its two steps.
            looks = looks.saturating_add(1);
            if looks < 64 {
                hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }

    /// Drops what is there. Where dropping one panics, the others are dropped all the same.
    pub(super) fn clear(&self) {
        struct Rest<'r, V>(&'r Ring<V>);
        impl<V> Drop for Rest<'_, V> {
            fn drop(&mut self) {
                self.0.clear();
            }
        }
        while let Some(value) = self.pop() {
            let rest = Rest(self);
            drop(value);
            mem::forget(rest);
        }
    }
}

impl<V> Drop for Ring<V> {
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
            let ring = Ring::new(capacity);
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
    fn turns_end_where_numbers_do() {
        for capacity in [1, 3] {
            let ring = Ring::<u32>::new(capacity);
            // The last turn of all.
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
    fn many_threads_see_every_value_once() {
        const EACH: usize = if cfg!(miri) { 100 } else { 30_000 };
        for (capacity, threads) in [(1, 2), (3, 3), (64, 4)] {
            let ring = Ring::new(capacity);
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
    fn what_is_left_is_dropped_once_also_when_dropping_panics() {
        struct Counted<'c>(&'c AtomicUsize, bool);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
                assert!(!self.1, "a drop that panics");
            }
        }
        let count = AtomicUsize::new(0);
        let ring = Ring::new(5);
        for panics in [false, true, false] {
            assert!(ring.push(Counted(&count, panics)).is_ok());
        }
        let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(ring)));
        assert!(dropped.is_err());
        assert_eq!(count.into_inner(), 3);
    }
}
