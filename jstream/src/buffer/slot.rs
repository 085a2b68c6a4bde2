//! A slot of memory and its origin.
//!
//! This file is in an import cycle: a slot of a pool holds its lease (`pool/lease`), the lease
//! leads to the state of the pool (`pool/state`), and that holds the program's function for
//! returned buffers (`pool/options`), which takes a buffer (`jbuf`) and thereby a slot.

use std::alloc::{self, Layout};
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;
use std::sync::Arc;

use super::pool::{Lease, OnHeap};
use super::{ALIGNMENT, Keeper, Region, Registration};

/// A slot of memory, and the origin to which it returns when it is dropped.
///
/// Invariants: `base` is aligned to [`ALIGNMENT`], or for a lent slot to
/// [`LEAST_ALIGNMENT`](super::LEAST_ALIGNMENT) unless it is only used as bytes. It is valid for
/// reads and writes of `capacity` bytes as long as `home` is alive. No other handle reaches those
/// bytes.
pub(crate) struct Slot {
    base: NonNull<u8>,
    capacity: usize,
    /// Dropped by `drop`, which decides with a single match whether there is anything to do.
    home: ManuallyDrop<Home>,
}

enum Home {
    /// The number of the slot in its pool.
    Pool(Lease, u32),
    Heap,
    /// Allocated on the heap because a pool was at its limit.
    HeapOf(OnHeap),
    /// A whole region. Others may have registered the region, but they do not access its memory.
    Region(Arc<Region>),
    /// A numbered part of the memory of an external owner.
    Kept(Arc<Keeper>, u32),
    /// A part of another slot, whose handle does not access the part as long as this slot exists.
    Lent,
}

const LENT: ManuallyDrop<Home> = ManuallyDrop::new(Home::Lent);

// SAFETY: a slot owns its memory exclusively, and the memory is not tied to a thread. All origins
// are `Send`.
unsafe impl Send for Slot {}
// SAFETY: a shared slot gives out only its address, its capacity, its place, and registrations of
// its region. None of them access the memory.
unsafe impl Sync for Slot {}

impl Slot {
    /// # Safety
    ///
    /// `base`, `capacity` and `number` must be those of the slot that `lease` owns.
    #[inline]
    pub(super) unsafe fn pooled(
        base: NonNull<u8>,
        capacity: usize,
        lease: Lease,
        number: u32,
    ) -> Self {
        Self {
            base,
            capacity,
            home: ManuallyDrop::new(Home::Pool(lease, number)),
        }
    }

    /// Returns a slot without memory.
    #[inline]
    pub(crate) const fn nowhere() -> Self {
        Self {
            base: NonNull::<Aligned>::dangling().cast(),
            capacity: 0,
            home: LENT,
        }
    }

    pub(super) fn heap(capacity: usize) -> Self {
        let Some(layout) = layout(capacity) else {
            panic!("a buffer of {capacity} bytes exceeds the address space");
        };
        let Some(slot) = Self::allocated(layout, capacity, Home::Heap) else {
            alloc::handle_alloc_error(layout);
        };
        slot
    }

    /// Allocates a slot on the heap, or returns `None` if memory is short.
    #[cfg(all(feature = "file", unix))]
    pub(super) fn try_heap(capacity: usize) -> Option<Self> {
        Self::allocated(layout(capacity)?, capacity, Home::Heap)
    }

    /// Allocates a slot on the heap for a pool that is at its limit, or returns `None` if memory is
    /// short.
    pub(super) fn heap_of(capacity: usize, on_heap: OnHeap) -> Option<Self> {
        Self::allocated(layout(capacity)?, capacity, Home::HeapOf(on_heap))
    }

    fn allocated(layout: Layout, capacity: usize, home: Home) -> Option<Self> {
        // SAFETY: the layout's size is at least 1.
        let base = unsafe { alloc::alloc(layout) };
        Some(Self {
            base: NonNull::new(base)?,
            capacity,
            home: ManuallyDrop::new(home),
        })
    }

    /// Returns a slot that consists of a whole region.
    pub(super) fn region(region: Region) -> Self {
        Self {
            base: region.base(),
            capacity: region.len(),
            home: ManuallyDrop::new(Home::Region(Arc::new(region))),
        }
    }

    /// Returns a slot that is a part of another slot.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`LEAST_ALIGNMENT`](super::LEAST_ALIGNMENT), unless the slot is
    /// only used as bytes. It must be valid for reads and writes of `capacity` bytes, which nothing
    /// else accesses until this slot is dropped.
    #[inline]
    pub(super) unsafe fn lent(base: NonNull<u8>, capacity: usize) -> Self {
        Self {
            base,
            capacity,
            home: LENT,
        }
    }

    /// Returns a slot that is a part of the memory of an external owner.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`ALIGNMENT`] and valid for reads and writes of `capacity` bytes,
    /// which nothing else accesses until the keeper gets the number back.
    #[inline]
    pub(super) unsafe fn kept(
        base: NonNull<u8>,
        capacity: usize,
        keeper: Arc<Keeper>,
        number: u32,
    ) -> Self {
        Self {
            base,
            capacity,
            home: ManuallyDrop::new(Home::Kept(keeper, number)),
        }
    }

    /// Takes the number of a part of the memory of `keeper`, without returning it to the keeper.
    /// Returns the slot if it does not belong to `keeper`.
    #[inline]
    pub(super) fn into_kept(mut self, keeper: &Arc<Keeper>) -> Result<u32, Self> {
        match &*self.home {
            Home::Kept(home, number) if Arc::ptr_eq(home, keeper) => {
                let number = *number;
                // The remaining slot is lent, so dropping it returns nothing to the keeper.
                drop(mem::replace(&mut *self.home, Home::Lent));
                Ok(number)
            }
            _ => Err(self),
        }
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline]
    pub(crate) const fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Registers the region, if the slot is a whole region.
    pub(super) fn register(&self) -> Option<Registration> {
        match &*self.home {
            Home::Region(region) => Some(region.register()),
            _ => None,
        }
    }

    /// Returns the region and offset of a slot of a pool.
    pub(super) fn place(&self) -> Option<Place> {
        match &*self.home {
            Home::Pool(lease, number) => Some(lease.position(*number, self.capacity)),
            _ => None,
        }
    }
}

/// A type with the alignment of slots.
#[repr(align(128))]
struct Aligned;

const _: () = assert!(align_of::<Aligned>() == ALIGNMENT);

/// Returns the memory layout of a buffer on the heap. Its size is at least 1.
fn layout(capacity: usize) -> Option<Layout> {
    Layout::from_size_align(capacity.max(1), ALIGNMENT).ok()
}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        let (base, capacity) = (self.base, self.capacity);
        // Passed by value, because a handle whose address is passed on is kept in memory wherever
        // it might be dropped, and then each move copies it.
        // SAFETY: `home` is not used again.
        match unsafe { ManuallyDrop::take(&mut self.home) } {
            Home::Lent => {}
            // SAFETY: the handle that owned the slot is being dropped, and nothing else uses its
            // lease.
            Home::Pool(lease, number) => unsafe { end(lease, number, base, capacity) },
            home => go_elsewhere(home, base, capacity),
        }
    }
}

/// Returns a slot to its pool.
///
/// # Safety
///
/// As for [`Lease::end`].
#[inline(never)]
unsafe fn end(lease: Lease, number: u32, base: NonNull<u8>, capacity: usize) {
    // SAFETY: the caller's promise is passed on.
    unsafe { lease.end(number, base, capacity) };
}

/// Frees or returns a slot that is neither lent nor of a pool.
#[inline(never)]
fn go_elsewhere(home: Home, base: NonNull<u8>, capacity: usize) {
    match home {
        Home::Heap => free(base, capacity),
        Home::HeapOf(on_heap) => {
            free(base, capacity);
            on_heap.end(capacity);
        }
        Home::Kept(keeper, number) => keeper.get_back(number),
        Home::Region(_) | Home::Lent | Home::Pool(..) => {}
    }
}

/// Frees the memory that `Slot::allocated` allocated.
#[inline(never)]
fn free(base: NonNull<u8>, capacity: usize) {
    if let Some(layout) = layout(capacity) {
        // SAFETY: the memory was allocated with this layout, and the handle that owned it is being
        // dropped.
        unsafe { alloc::dealloc(base.as_ptr(), layout) };
    }
}

/// The position of a buffer: a region of its pool, and the offset in that region. A device that has
/// registered the region addresses the buffer by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// Number of the region, for [`Pool::region`](super::Pool::region).
    pub region: usize,
    /// Offset of the buffer's first byte in the region, in bytes.
    pub offset: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region {}, offset {:#x}", self.region, self.offset)
    }
}
