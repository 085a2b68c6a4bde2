//! The cache of free slots of one thread. The thread accesses it with plain loads and stores.
//!
//! Other threads may recall the cached slots. The owner of the cache sets its busy flag before it
//! checks whether the slots are recalled. A recalling thread counts its recall before it checks
//! whether the owner is busy. A barrier separates the two steps on each side, as in Dekker's
//! algorithm:
//!
//! ```text
//! busy := 1                recalled += 1
//! ---- barrier ----        ---- barrier ----
//! recalled?                busy?
//! ```
//!
//! At least one side sees the store of the other. The barrier of the owner is only for the
//! compiler. That of the recalling thread makes all processors execute a memory barrier.
//!
//! Invariant: a cached slot is on no stack, is in one entry, and no thread owns it. `take`, `give`
//! and `take_back` change entries only with exclusive access. The owner has exclusive access from
//! the moment when it finds that the slots are not recalled until it clears its busy flag. A
//! recalling thread has exclusive access from the moment when it finds that the owner is not busy
//! until the recall ends.
//!
//! Decision 021 has the reasons.

use std::hint;
use std::thread;
use std::time::Duration;

use super::sizes::CLASSES;
use jstream_sync::barrier::Barriers;
use jstream_sync::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// The largest class that is cached: slots of 4 KiB. For larger slots, copying the contents takes
/// far longer than taking the slot, and a cached slot is not available to other threads.
const LARGEST: usize = 4;
/// Maximum number of cached slots of each class.
const MOST: usize = 4;

const _: () = assert!(LARGEST < CLASSES);

/// The cache of one thread. `S` is the type of slabs.
pub(super) struct Kept<S> {
    busy: AtomicU32,
    /// Number of active recalls. If it is not 0, the thread caches no slots.
    recalled: AtomicUsize,
    classes: [Places<S>; LARGEST + 1],
}

/// The cached slots of one class, in the first `count` entries.
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
    /// Creates an empty cache. It stays empty if the system has no process-wide barrier.
    pub(super) fn new() -> Self {
        let place = |_| SlotInSlab {
            slab: AtomicPtr::default(),
            slot: AtomicU32::new(0),
        };
        let places = |_| Places {
            count: AtomicUsize::new(0),
            places: std::array::from_fn(place),
        };
        let has_barrier = Barriers::of_this_process() == Barriers::MEMBARRIER;
        Self {
            busy: AtomicU32::new(0),
            recalled: AtomicUsize::new(usize::from(!has_barrier)),
            classes: std::array::from_fn(places),
        }
    }

    /// Takes a cached slot, with its slab. Only called by the owner of the cache.
    #[inline]
    pub(super) fn pop(&self, class: usize) -> Option<(u32, *mut S)> {
        self.when_alone(class, Places::pop)
    }

    /// Caches a slot. Returns false, and changes nothing, if the cache is full or recalled. Only
    /// called by the owner of the cache, which must own the slot.
    ///
    /// Once the slot is cached, it may be recalled. From then on this function accesses only the
    /// busy flag.
    #[inline]
    pub(super) fn push(&self, class: usize, slot: u32, slab: *mut S) -> bool {
        let push = |places: &Places<S>| places.push(slot, slab).then_some(());
        self.when_alone(class, push).is_some()
    }

    #[inline]
    fn when_alone<R>(&self, class: usize, work: impl FnOnce(&Places<S>) -> Option<R>) -> Option<R> {
        let places = self.classes.get(class)?;
        self.busy.store(1, Ordering::Relaxed);
        Barriers::MEMBARRIER.pass();
        // Acquire: sees the changes of a recalling thread to the entries.
        let done = if self.recalled.load(Ordering::Acquire) == 0 {
            work(places)
        } else {
            None
        };
        // Release: a recalling thread sees the changes to the entries.
        self.busy.store(0, Ordering::Release);
        done
    }

    /// Returns the current number of cached slots of a class.
    pub(super) fn count(&self, class: usize) -> usize {
        let count = |places: &Places<S>| places.count.load(Ordering::Relaxed);
        self.classes.get(class).map_or(0, count)
    }

    /// Stops the thread from caching slots until [`end_recall`](Self::end_recall). Takes effect
    /// once all processors have passed a barrier.
    pub(super) fn recall(&self) {
        self.recalled.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a recall. The thread may cache slots again if no other recall is active.
    pub(super) fn end_recall(&self) {
        // Release: the owner sees the changes to the entries.
        self.recalled.fetch_sub(1, Ordering::Release);
    }

    /// Removes all cached slots and calls `put` with each slot and its class. Called after `recall`
    /// and the barrier, by one thread at a time.
    pub(super) fn take_back(&self, mut put: impl FnMut(usize, u32)) {
        self.wait_until_idle();
        for (class, places) in self.classes.iter().enumerate() {
            while let Some((slot, _)) = places.pop() {
                put(class, slot);
            }
        }
    }

    /// Waits until the owner is not busy. It is busy for a few instructions only, unless it is
    /// preempted.
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
                // Yielding may not let threads of another priority run.
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
