//! Slabs, and the table that maps the number of a slot to its slab.
//!
//! Invariant: a slab in the table is not freed, and keeps its number, its class and its links,
//! until the pool ends, even while no memory is mapped for it. A thread that reads a link late
//! therefore still finds a link.

use std::collections::TryReserveError;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::list::Links;
use jstream_sync::AtomicU32;

/// A cache line of links.
#[repr(align(64))]
struct Line([AtomicU32; LINE]);

const LINE: usize = 16;
/// Minimum number of neighbouring slots whose links are in different cache lines, because the slots
/// may belong to different threads.
const APART: usize = 64;

/// Memory for slots of one class, which may not be mapped. `S` is the type of the pool's state.
pub(super) struct Slab<S> {
    pub(super) shared: NonNull<S>,
    pub(super) class: usize,
    /// The first byte of the slab's region.
    pub(super) base: AtomicPtr<u8>,
    links: Box<[Line]>,
    /// Number of lines minus one. The number of lines is a power of two.
    mask: usize,
    shift: u32,
}

impl<S> Slab<S> {
    /// Creates a slab without mapped memory. `slots` must be a power of two.
    pub(super) fn new(
        shared: NonNull<S>,
        class: usize,
        slots: usize,
    ) -> Result<Self, TryReserveError> {
        debug_assert!(slots.is_power_of_two());
        let lines = slots.min(APART).max(slots / LINE);
        let line = || Line(std::array::from_fn(|_| AtomicU32::new(0)));
        let links = boxed(std::iter::repeat_with(line).take(lines))?;
        Ok(Self {
            shared,
            class,
            base: AtomicPtr::new(std::ptr::null_mut()),
            links,
            mask: lines.wrapping_sub(1),
            shift: lines.trailing_zeros(),
        })
    }

    /// Returns the link of the `i`th slot of the slab.
    #[inline]
    pub(super) fn link(&self, i: usize) -> &AtomicU32 {
        let link = self
            .links
            .get(i & self.mask)
            .and_then(|line| line.0.get(i >> self.shift));
        match link {
            Some(link) => link,
            None => unreachable!("a slot of the slab"),
        }
    }
}

/// Number of slabs in the first bucket. Each further bucket holds twice as many.
const FIRST: usize = 32;
const BUCKETS: usize = 20;

/// All slabs of a pool, by number. The table grows by whole buckets, so no entry ever moves.
pub(super) struct Table<S> {
    buckets: [AtomicPtr<AtomicPtr<Slab<S>>>; BUCKETS],
    /// Number of low bits of a slot's number that are its index in the slab.
    pub(super) bits: u32,
}

impl<S> Table<S> {
    pub(super) fn new(bits: u32) -> Self {
        Self {
            buckets: std::array::from_fn(|_| AtomicPtr::default()),
            bits,
        }
    }

    /// Returns the bucket of slab `number`, the index in the bucket, and the size of the bucket.
    #[inline]
    fn locate(number: usize) -> (usize, usize, usize) {
        let n = number.wrapping_add(FIRST);
        let bit = n.ilog2();
        let bucket = bit.wrapping_sub(FIRST.trailing_zeros()) as usize;
        let size = 1usize << bit;
        (bucket, n.wrapping_sub(size), size)
    }

    /// Returns the slab with this number.
    ///
    /// # Safety
    ///
    /// A slab must have been inserted under `number`, and the insertion must happen before this
    /// call.
    #[inline]
    pub(super) unsafe fn slab(&self, number: usize) -> NonNull<Slab<S>> {
        let (bucket, at, _) = Self::locate(number);
        let Some(bucket) = self.buckets.get(bucket) else {
            unreachable!("`insert` has checked the number")
        };
        let bucket = bucket.load(Ordering::Acquire);
        // SAFETY: a bucket that holds a slab was allocated for `size` slabs, and `at` is below
        // `size`.
        let place = unsafe { bucket.add(at) };
        // SAFETY: as above. Buckets are freed only with the table.
        let slab = unsafe { &*place }.load(Ordering::Acquire);
        // SAFETY: the slab was inserted before, and is never removed.
        unsafe { NonNull::new_unchecked(slab) }
    }

    /// Inserts a slab under `number`. Only one thread may call this at a time.
    pub(super) fn insert(&self, number: usize, slab: Slab<S>) -> Result<(), TryReserveError> {
        let (bucket, at, size) = Self::locate(number);
        let Some(bucket) = self.buckets.get(bucket) else {
            unreachable!("there are fewer slots")
        };
        let slab = boxed(std::iter::once(slab))?;
        if bucket.load(Ordering::Acquire).is_null() {
            let empty = std::iter::repeat_with(AtomicPtr::<Slab<S>>::default);
            let fresh = boxed(empty.take(size))?;
            bucket.store(Box::into_raw(fresh).cast(), Ordering::Release);
        }
        // SAFETY: the bucket was allocated for `size` slabs, and `at` is below `size`.
        let place = unsafe { bucket.load(Ordering::Acquire).add(at) };
        // SAFETY: as above.
        let place = unsafe { &*place };
        place.store(Box::into_raw(slab).cast(), Ordering::Release);
        Ok(())
    }

    /// Returns the number of the slab of slot `slot`, and the index in the slab.
    #[inline]
    pub(super) fn split(&self, slot: u32) -> (usize, usize) {
        let mask = 1u32.wrapping_shl(self.bits).wrapping_sub(1);
        (
            slot.wrapping_shr(self.bits) as usize,
            (slot & mask) as usize,
        )
    }
}

impl<S> Table<S> {
    /// Returns the slab and the link of a slot that has been on a stack.
    #[inline]
    pub(super) fn find(&self, slot: u32) -> (NonNull<Slab<S>>, &AtomicU32) {
        let (number, i) = self.split(slot);
        // SAFETY: only slots of slabs in the table are on stacks. The number was read from a stack
        // or a link, to which it was written after the slab was inserted.
        let slab = unsafe { self.slab(number) };
        // SAFETY: slabs live as long as the table.
        (slab, unsafe { slab.as_ref() }.link(i))
    }
}

impl<S> Links for Table<S> {
    #[inline]
    fn link(&self, slot: u32) -> &AtomicU32 {
        self.find(slot).1
    }
}

impl<S> Drop for Table<S> {
    fn drop(&mut self) {
        for (k, bucket) in self.buckets.iter_mut().enumerate() {
            let size = FIRST << k;
            let bucket = std::mem::replace(bucket.get_mut(), std::ptr::null_mut());
            if bucket.is_null() {
                continue;
            }
            let bucket = std::ptr::slice_from_raw_parts_mut(bucket, size);
            // SAFETY: `insert` made the bucket from a box of `size` entries, and nothing else frees
            // it.
            let bucket = unsafe { Box::from_raw(bucket) };
            for slab in bucket {
                let slab = slab.into_inner();
                if !slab.is_null() {
                    let slab = std::ptr::slice_from_raw_parts_mut(slab, 1);
                    // SAFETY: `insert` made the slab from a box of one, to which no references are
                    // left.
                    drop(unsafe { Box::from_raw(slab) });
                }
            }
        }
    }
}

/// Collects values in a box, or returns an error if memory is short.
fn boxed<T>(values: impl Iterator<Item = T>) -> Result<Box<[T]>, TryReserveError> {
    let (len, _) = values.size_hint();
    let mut all = Vec::new();
    all.try_reserve_exact(len)?;
    all.extend(values);
    Ok(all.into_boxed_slice())
}
