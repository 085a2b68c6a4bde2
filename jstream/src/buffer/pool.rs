//! Slots by size class.

use std::error::Error;
use std::fmt;
use std::io;
use std::mem::size_of_val;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::jbuf::{Slot, Spent};
use super::region::Region;

/// The smallest class holds slots of this many bytes; each further class doubles it.
const SMALLEST: usize = 256;
/// Classes up to 2^40 bytes; more does not fit a process.
const CLASSES: usize = 33;
/// A slab maps at least this many bytes, or one slot where a slot is larger.
const SLAB: usize = 256 * 1024;

/// How a [`Pool`] is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolOptions {
    /// The most bytes of address space the pool maps, over all its classes (default 4 GiB).
    /// Answers the threat of peers who make us hold many large messages at once.
    pub max_mapped: usize,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            max_mapped: 4 << 30,
        }
    }
}

/// What a pool holds at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Jbufs that are out.
    pub in_use: usize,
    /// The most jbufs that were out at once.
    pub high_water: usize,
    /// Bytes of address space mapped.
    pub mapped: usize,
}

/// Why a pool gave no jbuf.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// Mapping what is missing would exceed [`PoolOptions::max_mapped`].
    Exhausted {
        /// The capacity asked for, in bytes.
        wanted: usize,
        /// Bytes mapped already.
        mapped: usize,
        /// The limit.
        max_mapped: usize,
    },
    /// The system refused to map memory.
    System {
        /// The capacity asked for, in bytes.
        wanted: usize,
        /// What the system said.
        source: io::Error,
    },
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted {
                wanted,
                mapped,
                max_mapped,
            } => write!(
                f,
                "no jbuf of {wanted} bytes: {mapped} of at most {max_mapped} bytes are mapped; \
                 drop received objects or raise PoolOptions::max_mapped"
            ),
            Self::System { wanted, source } => {
                write!(f, "no jbuf of {wanted} bytes: the system says: {source}")
            }
        }
    }
}

impl Error for PoolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            Self::Exhausted { .. } => None,
        }
    }
}

/// Hands out jbufs by size class and takes them back when their last handle is dropped.
///
/// Cheap to clone; clones are the same pool. Taking and dropping a jbuf allocates nothing once
/// the pool has met its peak. Regions are unmapped when the pool and all its jbufs are gone.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    options: PoolOptions,
    classes: [Mutex<Class>; CLASSES],
    mapped: AtomicUsize,
    in_use: AtomicUsize,
    high_water: AtomicUsize,
}

/// The free slots of one size.
///
/// Invariants: every pointer in `free` is the start of a slot of one of `slabs` that no handle
/// owns, once each; `free` has room for every slot of `slabs`.
#[derive(Default)]
struct Class {
    free: Vec<NonNull<u8>>,
    slabs: Vec<Region>,
}

// SAFETY: the pointers in `free` are owned memory, not tied to a thread.
unsafe impl Send for Class {}

impl Pool {
    /// A pool with nothing mapped yet.
    #[must_use]
    pub fn new(options: PoolOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                options,
                classes: std::array::from_fn(|_| Mutex::default()),
                mapped: AtomicUsize::new(0),
                in_use: AtomicUsize::new(0),
                high_water: AtomicUsize::new(0),
            }),
        }
    }

    /// A jbuf of at least `capacity` bytes.
    ///
    /// # Errors
    ///
    /// [`PoolError`] when the pool is at its limit or the system refuses memory.
    pub fn take(&self, capacity: usize) -> Result<Spent, PoolError> {
        let class = class_of(capacity).ok_or(PoolError::Exhausted {
            wanted: capacity,
            mapped: self.shared.mapped.load(Ordering::Relaxed),
            max_mapped: self.shared.options.max_mapped,
        })?;
        let base = self.shared.take(class, capacity)?;
        let out = self.shared.in_use.fetch_add(1, Ordering::Relaxed);
        self.shared
            .high_water
            .fetch_max(out.saturating_add(1), Ordering::Relaxed);
        // SAFETY: `base` came off the free list of `class`, so nobody else owns it, and the
        // slots of a class are `slot_size(class)` bytes long.
        let slot = unsafe { Slot::pooled(base, slot_size(class), self.shared.clone(), class) };
        Ok(Spent::from_slot(slot))
    }

    /// Counts of this moment.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        PoolStats {
            in_use: self.shared.in_use.load(Ordering::Relaxed),
            high_water: self.shared.high_water.load(Ordering::Relaxed),
            mapped: self.shared.mapped.load(Ordering::Relaxed),
        }
    }

    /// Whether `value` lies wholly inside memory of this pool.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, value: &T) -> bool {
        let size = size_of_val(value).max(1);
        self.shared
            .classes
            .iter()
            .enumerate()
            .filter(|(class, _)| slot_size(*class) >= size)
            .any(|(_, class)| lock(class).slabs.iter().any(|slab| slab.contains(value)))
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

impl Shared {
    fn take(&self, class: usize, wanted: usize) -> Result<NonNull<u8>, PoolError> {
        let Some(list) = self.classes.get(class) else {
            unreachable!("class_of returns a class below CLASSES")
        };
        if let Some(base) = lock(list).free.pop() {
            return Ok(base);
        }
        let slab = match self.map_slab(slot_size(class), wanted) {
            // What other classes have mapped and nobody uses is in the way.
            Err(PoolError::Exhausted { .. }) if self.unmap_idle() => {
                self.map_slab(slot_size(class), wanted)?
            }
            other => other?,
        };
        let mut list = lock(list);
        list.adopt(slab, slot_size(class));
        let Some(base) = list.free.pop() else {
            unreachable!("a slab has at least one slot")
        };
        Ok(base)
    }

    /// Maps a slab for slots of `size` bytes, within the limit.
    fn map_slab(&self, size: usize, wanted: usize) -> Result<Region, PoolError> {
        let len = size.max(SLAB);
        let max_mapped = self.options.max_mapped;
        self.mapped
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |mapped| {
                mapped.checked_add(len).filter(|all| *all <= max_mapped)
            })
            .map_err(|mapped| PoolError::Exhausted {
                wanted,
                mapped,
                max_mapped,
            })?;
        Region::anonymous(len).map_err(|source| {
            self.mapped.fetch_sub(len, Ordering::Relaxed);
            PoolError::System { wanted, source }
        })
    }

    /// Unmaps the slabs of which no slot is out; says whether there were any.
    fn unmap_idle(&self) -> bool {
        let before = self.mapped.load(Ordering::Relaxed);
        for (class, list) in self.classes.iter().enumerate() {
            let unmapped = lock(list).drop_idle(slot_size(class));
            self.mapped.fetch_sub(unmapped, Ordering::Relaxed);
        }
        self.mapped.load(Ordering::Relaxed) < before
    }

    pub(super) fn give_back(&self, class: usize, base: NonNull<u8>) {
        if let Some(list) = self.classes.get(class) {
            lock(list).free.push(base);
        }
        self.in_use.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Class {
    /// Drops the slabs all of whose slots are free; returns how many bytes these had.
    fn drop_idle(&mut self, size: usize) -> usize {
        let Self { free, slabs } = self;
        let mut dropped = 0usize;
        slabs.retain(|slab| {
            let start = slab.base().addr().get();
            let inside = |slot: &NonNull<u8>| {
                slot.addr()
                    .get()
                    .checked_sub(start)
                    .is_some_and(|at| at < slab.len())
            };
            let idle = free.iter().filter(|slot| inside(slot)).count();
            if slab.len().checked_div(size) != Some(idle) {
                return true;
            }
            free.retain(|slot| !inside(slot));
            dropped = dropped.saturating_add(slab.len());
            false
        });
        dropped
    }

    /// Cuts `slab` into slots of `size` bytes.
    fn adopt(&mut self, slab: Region, size: usize) {
        // Room for every slot there is, so that giving one back never allocates.
        let slots = |slab: &Region| slab.len().checked_div(size).unwrap_or(0);
        let all = self.slabs.iter().chain([&slab]).map(slots).sum::<usize>();
        self.free.reserve(all.saturating_sub(self.free.len()));
        for offset in (0..slab.len()).step_by(size).rev() {
            // SAFETY: `offset` is below the region's length.
            self.free.push(unsafe { slab.base().add(offset) });
        }
        self.slabs.push(slab);
    }
}

/// The class whose slots hold `capacity` bytes, if there is one.
fn class_of(capacity: usize) -> Option<usize> {
    let size = capacity.max(SMALLEST).checked_next_power_of_two()?;
    let class = (size / SMALLEST).trailing_zeros() as usize;
    (class < CLASSES).then_some(class)
}

fn slot_size(class: usize) -> usize {
    SMALLEST << class
}

/// A panic elsewhere can't leave a class half changed: its invariants hold between statements.
fn lock(class: &Mutex<Class>) -> MutexGuard<'_, Class> {
    class.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::ALIGNMENT;

    #[test]
    fn classes_hold_what_they_promise() {
        for capacity in [0, 1, 255, 256, 257, 4096, 4097, 1 << 20, (1 << 20) + 1] {
            let class = class_of(capacity).unwrap();
            assert!(slot_size(class) >= capacity);
            assert!(class == 0 || slot_size(class - 1) < capacity);
        }
        assert_eq!(class_of(usize::MAX), None);
        assert_eq!(class_of((1 << 40) + 1), None);
    }

    #[test]
    fn slots_return_and_are_disjoint() {
        let pool = Pool::default();
        let mut all: Vec<_> = (0..3000).map(|i| pool.take(i * 3).unwrap()).collect();
        assert_eq!(pool.stats().in_use, 3000);
        let mut spans: Vec<_> = all
            .iter_mut()
            .map(|spent| {
                let bytes = spent.uninit_mut();
                assert_eq!(bytes.as_ptr().addr() % ALIGNMENT, 0);
                (bytes.as_ptr().addr(), bytes.len())
            })
            .collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0));
        let mapped = pool.stats().mapped;
        drop(all);
        assert_eq!(pool.stats().in_use, 0);
        let again: Vec<_> = (0..3000).map(|i| pool.take(i * 3).unwrap()).collect();
        assert_eq!(pool.stats().mapped, mapped, "slots are used again");
        assert_eq!(pool.stats().high_water, 3000);
        drop(again);
    }

    #[test]
    fn the_limit_holds_and_is_explained() {
        let pool = Pool::new(PoolOptions {
            max_mapped: 512 * 1024,
        });
        let first = pool.take(512 * 1024).unwrap();
        let error = pool.take(1).unwrap_err();
        assert!(matches!(error, PoolError::Exhausted { wanted: 1, .. }));
        assert!(error.to_string().contains("max_mapped"));
        assert!(matches!(
            pool.take(usize::MAX),
            Err(PoolError::Exhausted { .. })
        ));
        drop(first);
        assert!(pool.take(300 * 1024).is_ok());
    }

    #[test]
    fn what_lies_idle_makes_room_for_other_sizes() {
        let pool = Pool::new(PoolOptions {
            max_mapped: 1 << 20,
        });
        let small: Vec<_> = (0..2000).map(|_| pool.take(256).unwrap()).collect();
        assert!(pool.take(1 << 20).is_err(), "small ones are out");
        let kept = small.into_iter().next().unwrap();
        assert!(pool.take(1 << 20).is_err(), "one small one is out");
        let half = pool.take(1 << 19).unwrap();
        assert!(pool.stats().mapped <= 1 << 20);
        drop((kept, half));
        assert!(pool.take(1 << 20).is_ok());
        assert_eq!(pool.stats().mapped, 1 << 20);
        assert!(pool.take(1).is_ok(), "and small ones again");
    }

    #[test]
    fn a_jbuf_outlives_its_pool() {
        let pool = Pool::default();
        let mut spent = pool.take(64).unwrap();
        drop(pool);
        spent.uninit_mut()[0].write(1);
        let filled = spent.copy_from(b"still here").unwrap();
        assert_eq!(filled.as_bytes(), b"still here");
    }

    #[test]
    fn contains_knows_its_own() {
        let pool = Pool::default();
        let filled = pool.take(64).unwrap().copy_from(b"inside").unwrap();
        assert!(pool.contains(filled.as_bytes()));
        assert!(!pool.contains(&[0u8; 16]));
    }

    #[test]
    fn threads_share_a_pool() {
        let pool = Pool::default();
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..500usize {
                        let bytes = vec![thread; round % 300 + 1];
                        let filled = pool.take(bytes.len()).unwrap().copy_from(&bytes).unwrap();
                        std::thread::yield_now();
                        assert_eq!(filled.as_bytes(), bytes);
                    }
                });
            }
        });
        assert_eq!(pool.stats().in_use, 0);
    }
}
