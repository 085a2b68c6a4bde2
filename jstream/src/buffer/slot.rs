//! One slot of memory, and where it goes.

use std::alloc::{self, Layout};
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;
use std::sync::Arc;

use super::pool::{Lease, OnHeap};
use super::{ALIGNMENT, Keeper, Region, Registration};

/// One slot of memory and where it goes when it is dropped.
///
/// Invariants: `base` is aligned to [`ALIGNMENT`], of a lent slot to
/// [`LEAST_ALIGNMENT`](super::LEAST_ALIGNMENT), and valid for reads and writes of `capacity` bytes as
/// long as `home` is alive, and no other handle reaches those bytes.
pub(crate) struct Slot {
    base: NonNull<u8>,
    capacity: usize,
    /// Dropped by `drop`, which finds out with one look what there is to be done.
    home: ManuallyDrop<Home>,
}

enum Home {
    Pool(Lease),
    Heap,
    /// On the heap, because a pool had none.
    HeapOf(OnHeap),
    /// All of a region, which others may have registered, but whose memory nobody else reaches.
    Region(Arc<Region>),
    /// A part, by its number, of what somebody keeps.
    Kept(Arc<Keeper>, u32),
    /// A part of another slot, whose handle keeps away from it as long as this one is there.
    Lent,
}

const LENT: ManuallyDrop<Home> = ManuallyDrop::new(Home::Lent);

// SAFETY: a slot owns its memory exclusively and the memory is not tied to a thread; all homes are
// `Send`.
unsafe impl Send for Slot {}
// SAFETY: a shared slot hands out nothing but its address, its capacity, its place, and registrations of
// its region, which don't reach the memory.
unsafe impl Sync for Slot {}

impl Slot {
    /// # Safety
    ///
    /// `base` and `capacity` must be those of the slot that `lease` owns.
    #[inline]
    pub(super) unsafe fn pooled(base: NonNull<u8>, capacity: usize, lease: Lease) -> Self {
        Self {
            base,
            capacity,
            home: ManuallyDrop::new(Home::Pool(lease)),
        }
    }

    /// No memory at all.
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
            panic!("a jbuf of {capacity} bytes is larger than an address space");
        };
        let Some(slot) = Self::allocated(layout, capacity, Home::Heap) else {
            alloc::handle_alloc_error(layout);
        };
        slot
    }

    /// On the heap, if there is room.
    #[cfg(unix)]
    pub(super) fn try_heap(capacity: usize) -> Option<Self> {
        Self::allocated(layout(capacity)?, capacity, Home::Heap)
    }

    /// On the heap, if there is room, because a pool has none.
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

    /// All of a region.
    pub(super) fn region(region: Region) -> Self {
        Self {
            base: region.base(),
            capacity: region.len(),
            home: ManuallyDrop::new(Home::Region(Arc::new(region))),
        }
    }

    /// A part of another slot.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`LEAST_ALIGNMENT`](super::LEAST_ALIGNMENT), unless it is used as bytes alone,
    /// and valid for reads and writes of `capacity` bytes, which nothing else reaches until this slot is
    /// dropped.
    #[inline]
    pub(super) unsafe fn lent(base: NonNull<u8>, capacity: usize) -> Self {
        Self {
            base,
            capacity,
            home: LENT,
        }
    }

    /// A part of what somebody keeps.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`ALIGNMENT`] and valid for reads and writes of `capacity` bytes, which
    /// nothing else reaches until the keeper gets the number back.
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

    /// The number of a part of what `keeper` keeps, which does not get it back; else the slot.
    #[inline]
    pub(super) fn into_kept(mut self, keeper: &Arc<Keeper>) -> Result<u32, Self> {
        match &*self.home {
            Home::Kept(home, number) if Arc::ptr_eq(home, keeper) => {
                let number = *number;
                // Dropping what is left gives nothing back.
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

    /// Registers the region that it is all of, if it is.
    pub(super) fn register(&self) -> Option<Registration> {
        match &*self.home {
            Home::Region(region) => Some(region.register()),
            _ => None,
        }
    }

    /// Where in its pool's regions it stands.
    pub(super) fn place(&self) -> Option<Place> {
        match &*self.home {
            Home::Pool(lease) => Some(lease.place(self.capacity)),
            _ => None,
        }
    }
}

/// As aligned as memory of a slot is.
#[repr(align(128))]
struct Aligned;

const _: () = assert!(align_of::<Aligned>() == ALIGNMENT);

/// That of a jbuf on the heap; its size is at least 1.
fn layout(capacity: usize) -> Option<Layout> {
    Layout::from_size_align(capacity.max(1), ALIGNMENT).ok()
}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        match &*self.home {
            Home::Lent => {}
            Home::Pool(_) => self.go_home(),
            _ => self.go_elsewhere(),
        }
    }
}

impl Slot {
    /// What `drop` does for a slot of a pool.
    #[inline(never)]
    fn go_home(&mut self) {
        if let Home::Pool(lease) = &*self.home {
            // SAFETY: the handle that owned the slot is being dropped, and nothing else uses its lease, which
            // has nothing to be dropped.
            unsafe { lease.end(self.base, self.capacity) };
        }
    }

    /// What `drop` does for a slot that is neither a pool's nor another's.
    #[inline(never)]
    fn go_elsewhere(&mut self) {
        let (base, capacity) = (self.base, self.capacity);
        match mem::replace(&mut *self.home, Home::Lent) {
            Home::Heap => free(base, capacity),
            Home::HeapOf(on_heap) => {
                free(base, capacity);
                on_heap.end(capacity);
            }
            Home::Kept(keeper, number) => keeper.get_back(number),
            Home::Region(_) | Home::Lent | Home::Pool(_) => {}
        }
    }
}

/// Frees what `Slot::allocated` got.
#[inline(never)]
fn free(base: NonNull<u8>, capacity: usize) {
    if let Some(layout) = layout(capacity) {
        // SAFETY: it was allocated with this layout, and the handle that owned the memory is being
        // dropped.
        unsafe { alloc::dealloc(base.as_ptr(), layout) };
    }
}

/// Where a jbuf stands: a region of its pool, and the offset there. A device that has registered the
/// region knows the jbuf by that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The region's number in [`Pool::region`](super::Pool::region).
    pub region: usize,
    /// The jbuf's first byte, counted from the region's.
    pub offset: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region {}, offset {:#x}", self.region, self.offset)
    }
}
