//! Slabs, and the table in which a slot's number finds its own.
//!
//! Invariant: a slab that is in the table is not freed, and keeps its number, its class and its links,
//! until the pool ends, also while no memory is mapped for it: who is late in looking at a link finds
//! one.

use std::collections::TryReserveError;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::list::Links;
use super::shared::Shared;
use super::sync::AtomicU32;

/// The links of some slots, in a cache line of their own.
#[repr(align(64))]
struct Line([AtomicU32; LINE]);

const LINE: usize = 16;
/// So many neighbouring slots have their links in different lines: they may be of different threads.
const APART: usize = 64;

/// Memory for slots of one class, mapped or not.
pub(super) struct Slab {
    pub(super) shared: NonNull<Shared>,
    pub(super) class: usize,
    /// The first byte of its region.
    pub(super) base: AtomicPtr<u8>,
    links: Box<[Line]>,
    /// One less than the number of lines, a power of two.
    mask: usize,
    shift: u32,
}

impl Slab {
    /// A slab of `slots` slots, a power of two, for which nothing is mapped.
    pub(super) fn new(
        shared: NonNull<Shared>,
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

    /// The link of the slab's `i`th slot.
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

/// The first bucket holds this many slabs, each further one twice as many.
const FIRST: usize = 32;
const BUCKETS: usize = 20;

/// All slabs of a pool by their numbers. It grows by whole buckets, so nothing in it ever moves.
pub(super) struct Table {
    buckets: [AtomicPtr<AtomicPtr<Slab>>; BUCKETS],
    /// How many bits of a slot's number are its place in the slab.
    pub(super) bits: u32,
}

impl Table {
    pub(super) fn new(bits: u32) -> Self {
        Self {
            buckets: std::array::from_fn(|_| AtomicPtr::default()),
            bits,
        }
    }

    /// The bucket of slab `number`, its place there, and how many the bucket holds.
    #[inline]
    fn locate(number: usize) -> (usize, usize, usize) {
        let n = number.wrapping_add(FIRST);
        let bit = n.ilog2();
        let bucket = bit.wrapping_sub(FIRST.trailing_zeros()) as usize;
        let size = 1usize << bit;
        (bucket, n.wrapping_sub(size), size)
    }

    /// The slab of a number that was put in.
    ///
    /// # Safety
    ///
    /// `number` was put in, and this thread knows by something that happened after.
    #[inline]
    pub(super) unsafe fn slab(&self, number: usize) -> NonNull<Slab> {
        let (bucket, at, _) = Self::locate(number);
        let Some(bucket) = self.buckets.get(bucket) else {
            unreachable!("`insert` has checked the number")
        };
        let bucket = bucket.load(Ordering::Acquire);
        // SAFETY: a bucket that holds a slab was allocated for `size` slabs, of which `at` is one.
        let place = unsafe { bucket.add(at) };
        // SAFETY: as above; buckets are freed with the table.
        let slab = unsafe { &*place }.load(Ordering::Acquire);
        // SAFETY: the slab was put in before, and is never taken out.
        unsafe { NonNull::new_unchecked(slab) }
    }

    /// Puts the slab `number` in. One caller at a time.
    pub(super) fn insert(&self, number: usize, slab: Slab) -> Result<(), TryReserveError> {
        let (bucket, at, size) = Self::locate(number);
        let Some(bucket) = self.buckets.get(bucket) else {
            unreachable!("there are fewer slots")
        };
        let slab = boxed(std::iter::once(slab))?;
        if bucket.load(Ordering::Acquire).is_null() {
            let empty = std::iter::repeat_with(AtomicPtr::<Slab>::default);
            let fresh = boxed(empty.take(size))?;
            bucket.store(Box::into_raw(fresh).cast(), Ordering::Release);
        }
        // SAFETY: the bucket was allocated for `size` slabs, of which `at` is one.
        let place = unsafe { bucket.load(Ordering::Acquire).add(at) };
        // SAFETY: as above.
        let place = unsafe { &*place };
        place.store(Box::into_raw(slab).cast(), Ordering::Release);
        Ok(())
    }

    /// The number of the slab of slot `slot`, and its place there.
    #[inline]
    pub(super) fn split(&self, slot: u32) -> (usize, usize) {
        let mask = 1u32.wrapping_shl(self.bits).wrapping_sub(1);
        (
            slot.wrapping_shr(self.bits) as usize,
            (slot & mask) as usize,
        )
    }
}

impl Table {
    /// The slab and the link of a slot that has been on a stack.
    #[inline]
    pub(super) fn find(&self, slot: u32) -> (NonNull<Slab>, &AtomicU32) {
        let (number, i) = self.split(slot);
        // SAFETY: only slots of slabs in the table are on stacks, and their numbers were read from a
        // stack or a link, to which they came later.
        let slab = unsafe { self.slab(number) };
        // SAFETY: slabs live as long as the table.
        (slab, unsafe { slab.as_ref() }.link(i))
    }
}

impl Links for Table {
    #[inline]
    fn link(&self, slot: u32) -> &AtomicU32 {
        self.find(slot).1
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        for (k, bucket) in self.buckets.iter_mut().enumerate() {
            let size = FIRST << k;
            let bucket = std::mem::replace(bucket.get_mut(), std::ptr::null_mut());
            if bucket.is_null() {
                continue;
            }
            let bucket = std::ptr::slice_from_raw_parts_mut(bucket, size);
            // SAFETY: `insert` made it of a box of `size`, which nobody else frees.
            let bucket = unsafe { Box::from_raw(bucket) };
            for slab in bucket {
                let slab = slab.into_inner();
                if !slab.is_null() {
                    let slab = std::ptr::slice_from_raw_parts_mut(slab, 1);
                    // SAFETY: `insert` made it of a box of one, which nobody refers to any more.
                    drop(unsafe { Box::from_raw(slab) });
                }
            }
        }
    }
}

/// Values in a box, if there is memory for them.
fn boxed<T>(values: impl Iterator<Item = T>) -> Result<Box<[T]>, TryReserveError> {
    let (len, _) = values.size_hint();
    let mut all = Vec::new();
    all.try_reserve_exact(len)?;
    all.extend(values);
    Ok(all.into_boxed_slice())
}
