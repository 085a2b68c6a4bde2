//! Slots by size class.
//!
//! | part | what |
//! |---|---|
//! | `list` | stacks of free slots, without locks |
//! | `moving` | taking over the slots of another stack |
//! | `kept` | slots that a thread keeps for itself, `barrier` between it and who wants them, `recall` of all |
//! | `threads` | whose shard is whose |
//! | `slab` | where a slot's number leads: its slab, and its link in a stack |
//! | `shared` | the stacks of all threads and classes; the end of a pool |
//! | `lease` | giving back |
//! | `book` | what is mapped, behind a lock: growing and shrinking |
//! | `waiting` | who waits for a jbuf |
//! | `sync` | the atomics, which may be loom's |

mod barrier;
mod book;
mod kept;
mod lease;
mod list;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(all(test, loom))]
#[allow(
    clippy::undocumented_unsafe_blocks,
    clippy::cast_possible_truncation,
    reason = "test code; loom checks what is done in its cells"
)]
mod models;
mod moving;
mod options;
mod recall;
mod shared;
mod slab;
mod sync;
#[cfg(all(test, not(loom)))]
mod tests;
mod threads;
mod waiting;

use std::fmt;
use std::mem::size_of_val;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use options::{Callback, ClassStats, Leak, PoolError, PoolOptions, PoolStats, WhenLow};
use shared::{Handle, Shared};

pub(super) use lease::Lease;

use super::region::HUGE_PAGE;
use super::{ALIGNMENT, Region, Slot, Spent};

/// The smallest class holds slots of this many bytes; each further class doubles it.
const SMALLEST: usize = 256;
/// Classes up to 2^40 bytes; more does not fit a process.
const CLASSES: usize = 33;
/// A pool that has mapped less than so much is never trimmed by itself.
const IDLE: usize = 64 << 20;
/// A slab maps at least this many bytes, or one slot where a slot is larger.
const SLAB: usize = 256 * 1024;

/// Hands out jbufs by size class and takes them back when their last handle is dropped.
///
/// Cheap to clone; clones are the same pool. Taking and dropping a jbuf takes no lock and allocates
/// nothing once the pool has met its peak, and threads that do both don't disturb each other. A thread keeps
/// up to 4 free jbufs of each size up to 4 KiB for itself, until others have none. Regions
/// are unmapped when the pool and all its jbufs are gone.
#[derive(Clone)]
pub struct Pool {
    /// What `handle` has.
    shared: NonNull<Shared>,
    /// Keeps it from being closed.
    #[allow(dead_code, reason = "counts the pool's clones")]
    handle: Arc<Handle>,
}

// SAFETY: `Shared` is used by shared references from whatever thread; the handle keeps it.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}
// Panics leave nothing half changed.
impl UnwindSafe for Pool {}
impl RefUnwindSafe for Pool {}

impl Pool {
    /// A pool with nothing mapped yet.
    #[must_use]
    pub fn new(options: PoolOptions) -> Self {
        let (shared, handle) = Shared::new(options);
        Self { shared, handle }
    }

    #[inline]
    fn shared(&self) -> &Shared {
        // SAFETY: it exists at least as long as the handle.
        unsafe { self.shared.as_ref() }
    }

    /// A jbuf of at least `capacity` bytes.
    ///
    /// # Errors
    ///
    /// [`PoolError`] when the pool is at its limit or the system refuses memory, after what
    /// [`PoolOptions::when_low`] says.
    // What is returned in memory is copied, by wide loads that wait for the narrow stores of just before: that would
    // take longer than all the rest.
    #[inline(always)]
    pub fn take(&self, capacity: usize) -> Result<Spent, PoolError> {
        let shared = self.shared();
        if let Some(class) = class_of(capacity) {
            if let Some((slot, slab)) = shared.take_kept(class) {
                // SAFETY: the thread has kept the slot, which is of `class`, so it is ours, with its slab.
                return Ok(unsafe { shared.lend_of(slab, slot, class) });
            }
        }
        let mut error = None;
        match (self.take_of_stack(capacity, &mut error), error) {
            (Some(spent), _) => Ok(spent),
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("there is a reason"),
        }
    }

    /// As [`take`](Self::take), for a thread that has kept nothing. `error` says why there is none.
    #[inline(never)]
    fn take_of_stack(&self, capacity: usize, error: &mut Option<PoolError>) -> Option<Spent> {
        let shared = self.shared();
        let Some(class) = class_of(capacity) else {
            *error = Some(self.too_large(capacity));
            return None;
        };
        if let Some((slot, slab)) = shared.take_own(class) {
            // SAFETY: the slot came off a stack of `class`, so it is ours, with its slab.
            return Some(unsafe { shared.lend_of(slab, slot, class) });
        }
        let taken = self.take_slowly(class, capacity);
        taken.map_err(|low| *error = Some(low)).ok()
    }

    #[inline(never)]
    fn take_slowly(&self, class: usize, capacity: usize) -> Result<Spent, PoolError> {
        let shared = self.shared();
        if let Some((slot, slab)) = shared.take_any(class) {
            // SAFETY: as above.
            return Ok(unsafe { shared.lend_of(slab, slot, class) });
        }
        match shared.take_or_grow(class, capacity) {
            Ok(slot) => {
                // SAFETY: as above.
                let jbuf = unsafe { shared.lend(slot, class) };
                self.changed();
                Ok(jbuf)
            }
            Err(low) => {
                let result = self.when_low(class, capacity, low);
                self.changed();
                result
            }
        }
    }

    /// What the options say to do.
    #[cold]
    fn when_low(&self, class: usize, capacity: usize, low: PoolError) -> Result<Spent, PoolError> {
        let shared = self.shared();
        let counts = shared.counts.get(class);
        match shared.options.when_low {
            // One that can't ever be mapped is not waited for.
            WhenLow::Wait(at_most)
                if slab_len(class, &shared.options) <= shared.options.max_mapped =>
            {
                if let Some(counts) = counts {
                    counts.waits.fetch_add(1, Ordering::Relaxed);
                }
                self.wait(class, capacity, at_most)
            }
            WhenLow::Fail | WhenLow::Wait(_) => Err(low),
            WhenLow::Heap { max_bytes } => {
                let jbuf = self.take_heap(capacity, max_bytes)?;
                if let Some(counts) = counts {
                    counts.fallbacks.fetch_add(1, Ordering::Relaxed);
                }
                Ok(jbuf)
            }
        }
    }

    fn wait(&self, class: usize, capacity: usize, at_most: Duration) -> Result<Spent, PoolError> {
        let until = Instant::now().checked_add(at_most);
        let shared = self.shared();
        let waiter = shared.waiting.enter(|wanted| shared.want(wanted));
        loop {
            let seen = waiter.seen();
            if let Ok(slot) = shared.take_or_grow(class, capacity) {
                // SAFETY: as for `take`.
                return Ok(unsafe { shared.lend(slot, class) });
            }
            if !waiter.wait(seen, until) {
                return Err(PoolError::TimedOut {
                    wanted: capacity,
                    waited: at_most,
                });
            }
        }
    }

    /// A jbuf on the heap.
    fn take_heap(&self, capacity: usize, max_bytes: usize) -> Result<Spent, PoolError> {
        let on_heap = &self.shared().on_heap;
        let counted = OnHeap::counted(capacity);
        on_heap
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |bytes| {
                let all = bytes.checked_add(counted)?;
                (all <= max_bytes).then_some(all)
            })
            .map_err(|on_heap| PoolError::HeapExhausted {
                wanted: capacity,
                on_heap,
                max_bytes,
            })?;
        Slot::heap_of(capacity, OnHeap(on_heap.clone()))
            .map(Spent::from_slot)
            .ok_or_else(|| {
                on_heap.fetch_sub(counted, Ordering::Relaxed);
                PoolError::System {
                    wanted: capacity,
                    source: std::io::ErrorKind::OutOfMemory.into(),
                }
            })
    }

    #[cold]
    fn too_large(&self, capacity: usize) -> PoolError {
        PoolError::Exhausted {
            wanted: capacity,
            mapped: self.stats().mapped,
            max_mapped: self.shared().options.max_mapped,
        }
    }

    /// How it was set up.
    #[must_use]
    pub fn options(&self) -> &PoolOptions {
        &self.shared().options
    }

    /// Counts of this moment.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        let shared = self.shared();
        let mut all = PoolStats {
            on_heap: shared.on_heap.load(Ordering::Relaxed),
            ..PoolStats::default()
        };
        for class in 0..CLASSES {
            let of = shared.class_stats(class);
            all.in_use = all.in_use.saturating_add(of.in_use);
            all.high_water = all.high_water.saturating_add(of.high_water);
            all.fallbacks = all.fallbacks.saturating_add(of.fallbacks);
            all.waits = all.waits.saturating_add(of.waits);
        }
        all.mapped = shared.book().mapped();
        all
    }

    /// Counts of this moment, of each size that was ever asked for.
    pub fn class_stats(&self) -> impl Iterator<Item = ClassStats> {
        let shared = self.shared();
        (0..CLASSES)
            .map(|class| ClassStats {
                capacity: slot_size(class),
                stats: shared.class_stats(class),
            })
            .filter(|class| class.stats != PoolStats::default())
    }

    /// Whether `value` lies wholly inside memory of this pool.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: &T) -> bool {
        let size = size_of_val(value).max(1);
        self.shared()
            .book()
            .regions()
            .any(|(_, region)| region.len() >= size && region.contains(value))
    }

    /// The regions that are mapped now, with their numbers. One stays mapped at least as long as
    /// somebody has it, or has registered it.
    #[must_use]
    pub fn regions(&self) -> Vec<(usize, Arc<Region>)> {
        let book = self.shared().book();
        book.regions()
            .map(|(number, region)| (number, region.clone()))
            .collect()
    }

    /// The region with a number, as a jbuf's [`Place`](super::Place) says it.
    #[must_use]
    pub fn region(&self, number: usize) -> Option<Arc<Region>> {
        self.shared().book().region(number).cloned()
    }

    /// Gives back to the system the memory of what is not in use: regions of which no jbuf is out, and
    /// elsewhere the pages of free slots. Regions that somebody has are left as they are. Returns how
    /// many bytes that were at most; some may not have been committed.
    pub fn trim(&self) -> usize {
        let shared = self.shared();
        let recall = shared.recall();
        let mut book = shared.book();
        let back = shared.shrink(&mut book, true);
        book.note_trimmed();
        drop(book);
        drop(recall);
        // There may be room for other sizes now.
        shared.waiting.came_back();
        back
    }

    /// Calls [`trim`](Self::trim) if the pool has become idle: more than 64 MiB are mapped, at least twice as
    /// many as after the last trim, and jbufs that are out take less than a quarter. Returns how many bytes went
    /// back, else 0. The transport calls it when a connection has ended, so that the memory that a burst took
    /// does not stay.
    pub fn trim_if_idle(&self) -> usize {
        let mapped = {
            let book = self.shared().book();
            if book.mapped() <= IDLE || book.mapped() / 2 < book.trimmed() {
                return 0;
            }
            book.mapped()
        };
        let of_class = |of: ClassStats| of.capacity.saturating_mul(of.stats.in_use);
        let in_use = self.class_stats().map(of_class);
        if in_use.fold(0, usize::saturating_add) > mapped / 4 {
            return 0;
        }
        self.trim()
    }

    /// Tells the program's counters what has changed.
    #[inline]
    fn changed(&self) {
        #[cfg(feature = "metrics")]
        self.publish();
    }
}

impl Shared {
    fn class_stats(&self, class: usize) -> PoolStats {
        let (high_water, mapped) = self.book().peak(class);
        let (fallbacks, waits) = self.counts.get(class).map_or((0, 0), |counts| {
            let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
            (count(&counts.fallbacks), count(&counts.waits))
        });
        PoolStats {
            in_use: self.in_use(class),
            high_water,
            mapped,
            fallbacks,
            on_heap: 0,
            waits,
        }
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new(PoolOptions::default())
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stats().fmt(f)
    }
}

/// Counts the bytes of a pool's jbufs on the heap.
pub(super) struct OnHeap(Arc<AtomicUsize>);

impl OnHeap {
    /// What a jbuf of `capacity` bytes counts for: it is aligned, so it takes no less.
    fn counted(capacity: usize) -> usize {
        let blocks = capacity.div_ceil(ALIGNMENT).max(1);
        blocks.saturating_mul(ALIGNMENT)
    }

    /// A jbuf of `capacity` bytes was freed.
    pub(super) fn end(&self, capacity: usize) {
        self.0.fetch_sub(Self::counted(capacity), Ordering::Relaxed);
    }
}

/// The class whose slots hold `capacity` bytes, if there is one.
#[inline]
fn class_of(capacity: usize) -> Option<usize> {
    // What is beyond the smallest class, in multiples of it; its bits are the class.
    let beyond = capacity.max(1).wrapping_sub(1) / SMALLEST;
    let class = (usize::BITS.wrapping_sub(beyond.leading_zeros())) as usize;
    (class < CLASSES).then_some(class)
}

#[inline]
fn slot_size(class: usize) -> usize {
    SMALLEST << class
}

/// How many bytes a slab of a class has.
fn slab_len(class: usize, options: &PoolOptions) -> usize {
    let least = if options.region.huge_pages {
        HUGE_PAGE
    } else {
        SLAB
    };
    slot_size(class).max(least)
}
