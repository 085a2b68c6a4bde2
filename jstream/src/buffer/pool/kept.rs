//! Slots that a thread keeps for itself: it takes them and puts them with plain loads and stores.
//!
//! Others may recall them. A thread says that it is at its slots before it looks whether they are
//! recalled, and who recalls says so before it looks whether the thread is at them. A barrier stands between
//! the two steps of each:
//!
//! ```text
//! busy := 1                recalled += 1
//! ---- barrier ----        ---- barrier ----
//! recalled?                busy?
//! ```
//!
//! One of both sees the other. The thread's barrier is for the compiler alone: that of who recalls makes all
//! processors pass one.
//!
//! Invariant: a slot that is kept is on no stack, stands in one place, and nobody owns it. `take`, `give` and
//! `take_back` change places only while nobody else does. The thread is alone with them from when it found them
//! not recalled until it is not busy any more, and who recalls from when it found the thread not busy, as
//! long as they are recalled.

use std::hint;
use std::thread;
use std::time::Duration;

use super::CLASSES;
use super::barrier;
use super::sync::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Slots of this class, of 4 KiB, and of those below are kept: to copy what fills a larger one costs far more than
/// to take it, and what is kept is of no use to others.
const LARGEST: usize = 4;
/// So many slots of each class.
const MOST: usize = 4;

const _: () = assert!(LARGEST < CLASSES);

/// What one thread keeps; `S` is a slab.
pub(super) struct Kept<S> {
    busy: AtomicU32,
    /// How many have recalled what is kept. Then nothing is.
    recalled: AtomicUsize,
    classes: [Places<S>; LARGEST + 1],
}

/// The slots of one class, of which the first `count` places have one.
struct Places<S> {
    count: AtomicUsize,
    places: [SlotInSlab<S>; MOST],
}

/// A slot and its slab.
struct SlotInSlab<S> {
    slab: AtomicPtr<S>,
    slot: AtomicU32,
}

impl<S> Kept<S> {
    /// Nothing. Where the system has no barrier for all processors, nothing is ever kept.
    pub(super) fn new() -> Self {
        let place = |_| SlotInSlab {
            slab: AtomicPtr::default(),
            slot: AtomicU32::new(0),
        };
        let places = |_| Places {
            count: AtomicUsize::new(0),
            places: std::array::from_fn(place),
        };
        Self {
            busy: AtomicU32::new(0),
            recalled: AtomicUsize::new(usize::from(!barrier::is_there())),
            classes: std::array::from_fn(places),
        }
    }

    /// Takes a slot that was kept, with its slab. Called by the thread alone.
    #[inline]
    pub(super) fn take(&self, class: usize) -> Option<(u32, *mut S)> {
        self.when_alone(class, Places::pop)
    }

    /// Keeps a slot; false, and nothing done, when there is no room. Called by the thread alone, which
    /// owns the slot.
    ///
    /// Once the slot is kept, and may be recalled, this touches nothing any more but to say so.
    #[inline]
    pub(super) fn give(&self, class: usize, slot: u32, slab: *mut S) -> bool {
        let push = |places: &Places<S>| places.push(slot, slab).then_some(());
        self.when_alone(class, push).is_some()
    }

    #[inline]
    fn when_alone<R>(&self, class: usize, work: impl FnOnce(&Places<S>) -> Option<R>) -> Option<R> {
        let places = self.classes.get(class)?;
        self.busy.store(1, Ordering::Relaxed);
        barrier::pass();
        // Acquire: who recalled is done.
        let done = if self.recalled.load(Ordering::Acquire) == 0 {
            work(places)
        } else {
            None
        };
        // Release: who recalls finds what was done.
        self.busy.store(0, Ordering::Release);
        done
    }

    /// How many slots of a class are kept at this moment.
    pub(super) fn count(&self, class: usize) -> usize {
        let count = |places: &Places<S>| places.count.load(Ordering::Relaxed);
        self.classes.get(class).map_or(0, count)
    }

    /// Has the thread keep nothing until [`end_recall`](Self::end_recall), once all processors have passed a
    /// barrier.
    pub(super) fn recall(&self) {
        self.recalled.fetch_add(1, Ordering::Relaxed);
    }

    /// Lets the thread keep slots again, if nobody else has recalled them.
    pub(super) fn end_recall(&self) {
        // Release: the thread finds what was done.
        self.recalled.fetch_sub(1, Ordering::Release);
    }

    /// Calls `put` with each slot that is kept, and its class. Called after `recall` and the barrier, by one at a
    /// time.
    pub(super) fn take_back(&self, mut put: impl FnMut(usize, u32)) {
        self.wait_until_idle();
        for (class, places) in self.classes.iter().enumerate() {
            while let Some((slot, _)) = places.pop() {
                put(class, slot);
            }
        }
    }

    /// A thread is busy for some instructions, unless the processor is taken from it.
    fn wait_until_idle(&self) {
        const LOOKS: u32 = 1000;
        const NAP: Duration = Duration::from_micros(50);
        let mut looks = 0u32;
        while self.busy.load(Ordering::Acquire) != 0 {
            looks = looks.saturating_add(1);
            if cfg!(loom) || looks % 8 == 0 && looks < LOOKS {
                yield_now();
            } else if looks < LOOKS {
                hint::spin_loop();
            } else {
                // Yielding may not give way to threads of another priority.
                thread::sleep(NAP);
            }
        }
    }
}

#[cfg(loom)]
use loom::thread::yield_now;
#[cfg(not(loom))]
use std::thread::yield_now;

impl<S> Places<S> {
    #[inline]
    fn pop(&self) -> Option<(u32, *mut S)> {
        let last = self.count.load(Ordering::Relaxed).checked_sub(1)?;
        let place = self.places.get(last)?;
        self.count.store(last, Ordering::Relaxed);
        let slot = place.slot.load(Ordering::Relaxed);
        Some((slot, place.slab.load(Ordering::Relaxed)))
    }

    #[inline]
    fn push(&self, slot: u32, slab: *mut S) -> bool {
        let count = self.count.load(Ordering::Relaxed);
        let Some(place) = self.places.get(count) else {
            return false;
        };
        place.slot.store(slot, Ordering::Relaxed);
        place.slab.store(slab, Ordering::Relaxed);
        self.count.store(count.wrapping_add(1), Ordering::Relaxed);
        true
    }
}
