//! A pool of slots by size class.
//!
//! | module | responsibility |
//! |---|---|
//! | `sizes` | the size classes |
//! | `list` | lock-free stacks of free slots |
//! | `moving` | moving the slots of one stack to another |
//! | `kept` | caches of free slots, one per thread; `recall` lets others empty them |
//! | `threads` | assigns threads to shards |
//! | `slab` | maps a slot's number to its slab and to its link in a stack |
//! | `shared` | the stacks of all shards and classes; the end of a pool |
//! | `lease` | returns slots |
//! | `book` | the record of the mapped memory, behind a lock |
//! | `grow` | growing and shrinking |
//! | `waiting` | threads that block until a buffer is returned |

mod book;
mod callback;
mod error;
mod grow;
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
mod on_heap;
mod options;
mod recall;
mod sizes;
mod slab;
mod state;
mod stats;
#[cfg(all(test, not(loom)))]
mod tests;
mod threads;
mod waiting;

use std::fmt;
use std::mem::size_of_val;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub use callback::Callback;
pub use error::PoolError;
pub use options::{PoolOptions, WhenLow};
use sizes::{CLASSES, class_of, slab_len, slot_size};
use state::{Handle, PoolState};
pub use stats::{ClassStats, Leak, PoolStats};

pub(super) use lease::Lease;
pub(super) use on_heap::OnHeap;

use super::{EmptyBuffer, Region, Slot};

/// A pool that has mapped no more than this many bytes is never trimmed automatically.
const IDLE: usize = 64 << 20;

/// A pool of buffers in size classes. A buffer returns to the pool when its last handle is dropped.
///
/// Cloning is cheap; clones refer to the same pool. Once the pool has reached its peak, taking and
/// dropping a buffer takes no lock and allocates nothing, and threads that do both do not contend.
/// Each thread caches up to 4 free buffers of each size up to 4 KiB, until other threads run out of
/// buffers. The regions are unmapped when the pool and all its buffers are gone.
#[derive(Clone)]
pub struct Pool {
    /// Pointer to the state of the pool, equal to that in `handle`.
    shared: NonNull<PoolState>,
    /// Keeps the pool open.
    #[allow(dead_code, reason = "counts the pool's clones")]
    handle: Arc<Handle>,
}

// SAFETY: all threads access `PoolState` through shared references, and the handle keeps it alive.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}
// A panic leaves nothing half changed.
impl UnwindSafe for Pool {}
impl RefUnwindSafe for Pool {}

impl Pool {
    /// Creates a pool that has nothing mapped.
    #[must_use]
    pub fn new(options: PoolOptions) -> Self {
        let (shared, handle) = PoolState::new(options);
        Self { shared, handle }
    }

    #[inline]
    fn shared(&self) -> &PoolState {
        // SAFETY: the target exists at least as long as the handle.
        unsafe { self.shared.as_ref() }
    }

    /// Takes a buffer of at least `capacity` bytes.
    ///
    /// # Errors
    ///
    /// Returns a [`PoolError`] if the pool is at its limit or the system refuses memory, and
    /// [`PoolOptions::when_low`] did not provide a buffer either.
    // Inlined because a result returned through memory is copied with wide loads, which stall on
    // the narrow stores just before them (failed store forwarding). The stall would take longer
    // than the rest of the function.
    #[inline(always)]
    pub fn take(&self, capacity: usize) -> Result<EmptyBuffer, PoolError> {
        let shared = self.shared();
        if let Some(class) = class_of(capacity) {
            if let Some((slot, slab)) = shared.take_kept(class) {
                // SAFETY: the slot comes from this thread's cache for `class`, so this call owns
                // the slot, and `slab` is its slab.
                return Ok(unsafe { shared.lend_of(slab, slot, class) });
            }
        }
        let mut error = None;
        match (self.take_of_stack(capacity, &mut error), error) {
            (Some(empty), _) => Ok(empty),
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("there is a reason"),
        }
    }

    /// Like [`take`](Self::take), if the thread's cache is empty. On failure, stores the reason in
    /// `error`.
    #[inline(never)]
    fn take_of_stack(&self, capacity: usize, error: &mut Option<PoolError>) -> Option<EmptyBuffer> {
        let shared = self.shared();
        let Some(class) = class_of(capacity) else {
            *error = Some(self.too_large(capacity));
            return None;
        };
        if let Some((slot, slab)) = shared.take_own(class) {
            // SAFETY: the slot comes from a stack of `class`, so this call owns the slot, and
            // `slab` is its slab.
            return Some(unsafe { shared.lend_of(slab, slot, class) });
        }
        let taken = self.take_slowly(class, capacity);
        taken.map_err(|low| *error = Some(low)).ok()
    }

    #[inline(never)]
    fn take_slowly(&self, class: usize, capacity: usize) -> Result<EmptyBuffer, PoolError> {
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

    /// Applies [`PoolOptions::when_low`].
    #[cold]
    fn when_low(
        &self,
        class: usize,
        capacity: usize,
        low: PoolError,
    ) -> Result<EmptyBuffer, PoolError> {
        let shared = self.shared();
        let counts = shared.counts.get(class);
        match shared.options.when_low {
            // Waiting is pointless for a class whose slab exceeds the limit.
            WhenLow::Wait(at_most)
                if slab_len(class, &shared.options.region) <= shared.options.max_mapped =>
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

    fn wait(
        &self,
        class: usize,
        capacity: usize,
        at_most: Duration,
    ) -> Result<EmptyBuffer, PoolError> {
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

    /// Takes a buffer on the heap.
    fn take_heap(&self, capacity: usize, max_bytes: usize) -> Result<EmptyBuffer, PoolError> {
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
            .map(EmptyBuffer::from_slot)
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

    /// Returns the options of the pool.
    #[must_use]
    pub fn options(&self) -> &PoolOptions {
        &self.shared().options
    }

    /// Returns the current counts.
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

    /// Returns the current counts of each size that was ever requested.
    pub fn class_stats(&self) -> impl Iterator<Item = ClassStats> {
        let shared = self.shared();
        (0..CLASSES)
            .map(|class| ClassStats {
                capacity: slot_size(class),
                stats: shared.class_stats(class),
            })
            .filter(|class| class.stats != PoolStats::default())
    }

    /// Returns true if `value` lies entirely inside memory of this pool.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: &T) -> bool {
        let size = size_of_val(value).max(1);
        self.shared()
            .book()
            .regions()
            .any(|(_, region)| region.len() >= size && region.contains(value))
    }

    /// Returns the currently mapped regions with their numbers. A region stays mapped at least as
    /// long as a reference to it or a registration exists.
    #[must_use]
    pub fn regions(&self) -> Vec<(usize, Arc<Region>)> {
        let book = self.shared().book();
        book.regions()
            .map(|(number, region)| (number, region.clone()))
            .collect()
    }

    /// Returns the region with this number, as in the [`Place`](super::Place) of a buffer.
    #[must_use]
    pub fn region(&self, number: usize) -> Option<Arc<Region>> {
        self.shared().book().region(number).cloned()
    }

    /// Returns unused memory to the system: unmaps the regions without a buffer in use, and
    /// discards the pages of free slots in the others, except in memory files. Regions to which the
    /// program holds a reference are not changed. Returns an upper limit of the number of bytes
    /// returned, because some of them may not have been committed.
    pub fn trim(&self) -> usize {
        let shared = self.shared();
        let recall = shared.recall();
        let mut book = shared.book();
        let back = shared.shrink(&mut book, true);
        book.note_trimmed();
        drop(book);
        drop(recall);
        // Other sizes may have room now.
        shared.waiting.came_back();
        back
    }

    /// Calls [`trim`](Self::trim) if the pool has become idle: more than 64 MiB are mapped, at
    /// least twice as many bytes as after the last trim, and buffers in use take at most a quarter
    /// of them. Returns the number of bytes returned to the system, or 0 if the pool is not idle.
    /// The transport calls this method when a connection ends, and some seconds after a large
    /// message, so that the memory of a burst is released.
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

    /// Publishes the current counts to the program's recorder of [`metrics`](::metrics), for each
    /// size that was ever requested and for the whole pool: `jstream_pool_in_use`,
    /// `jstream_pool_high_water`, `jstream_pool_mapped_bytes`, `jstream_pool_heap_bytes`,
    /// `jstream_pool_fallbacks` and `jstream_pool_waits`, with the labels `pool` (its name) and
    /// `capacity` (in bytes, or `all`).
    ///
    /// The pool calls this method when it grows, and when it is low. Taking and returning buffers
    /// publishes nothing. When the last handle of the pool is dropped, the buffers still in use are
    /// added to `jstream_pool_leaked_jbufs` and `jstream_pool_leaked_bytes`, with the label `pool`.
    #[cfg(feature = "metrics")]
    pub fn publish(&self) {
        let name = &self.options().name;
        for class in self.class_stats() {
            metrics::publish(name, class.capacity.to_string().into(), class.stats);
        }
        metrics::publish(name, Arc::from("all"), self.stats());
    }

    /// Publishes the changed counts, if the `metrics` feature is enabled. Catches a panic of the
    /// recorder, so that the caller gets its buffer.
    #[inline]
    fn changed(&self) {
        #[cfg(feature = "metrics")]
        jstream_sync::panics::catch_panic(|| self.publish());
    }
}

impl PoolState {
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
