//! The way of a slot back: to what its thread keeps, to a stack, or to the program's function that wants it.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::list::{CLOSED, WANTED};
use super::options::Callback;
use super::shared::Shared;
use super::slab::Slab;
use super::sync::Ordering;
use crate::buffer::{Place, Slot, Spent};

/// The ownership of one slot of a pool.
pub(in crate::buffer) struct Lease {
    slab: NonNull<Slab>,
    /// A whole word: what is copied as one is to have been stored as one.
    slot: usize,
}

// SAFETY: a slab is used by shared references from whatever thread, and lives as long as the lease.
unsafe impl Send for Lease {}
// SAFETY: as above.
unsafe impl Sync for Lease {}

impl Lease {
    #[inline]
    pub(super) fn new(slab: NonNull<Slab>, slot: u32) -> Self {
        Self {
            slab,
            slot: slot as usize,
        }
    }

    #[inline]
    fn number(&self) -> u32 {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "slots have numbers of 30 bits"
        )]
        let number = self.slot as u32;
        number
    }

    /// Where the slot of `size` bytes stands.
    pub(in crate::buffer) fn place(&self, size: usize) -> Place {
        // SAFETY: the slab lives at least until its slot is back.
        let slab = unsafe { self.slab.as_ref() };
        // SAFETY: as does what it belongs to.
        let (number, i) = unsafe { slab.shared.as_ref() }.table.split(self.number());
        Place {
            region: number,
            offset: i.wrapping_mul(size),
        }
    }

    /// Gives the slot back, or to the program's function that wants it.
    ///
    /// # Safety
    ///
    /// The lease and all other handles of the slot are not used again. `base` and `capacity` are the
    /// slot's.
    #[inline]
    pub(in crate::buffer) unsafe fn end(&self, base: NonNull<u8>, capacity: usize) {
        let slab = self.slab;
        // SAFETY: the slab lives at least until its slot is back.
        let shared = unsafe { slab.as_ref() }.shared;
        // SAFETY: as does what it belongs to.
        if let Some(reclaim) = &unsafe { shared.as_ref() }.options.reclaim {
            if !is_reclaiming(reclaim) {
                let slot = self.slot;
                // SAFETY: as the caller says, this is the only handle from now on.
                let slot = unsafe { Slot::pooled(base, capacity, Lease { slab, slot }) };
                return hand_over(reclaim.clone(), Spent::from_slot(slot));
            }
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { give_back(slab, self.number()) };
    }
}

/// A function that reclaims, while it runs, and the one that it was called from.
struct Reclaiming {
    function: Callback<Spent>,
    outer: *const Self,
}

thread_local! {
    /// The one that this thread is in, if any: what it drops of its own goes back at once.
    ///
    /// Invariant: it, and those it was called from, are frames of this thread's `hand_over`.
    static RECLAIMING: Cell<*const Reclaiming> = const { Cell::new(ptr::null()) };
}

/// Whether this thread is in the function.
fn is_reclaiming(function: &Callback<Spent>) -> bool {
    let mut frame = RECLAIMING.get();
    // SAFETY: as the invariant says, it is on this thread's stack.
    while let Some(reclaiming) = unsafe { frame.as_ref() } {
        if reclaiming.function == *function {
            return true;
        }
        frame = reclaiming.outer;
    }
    false
}

/// The function is a clone: the pool may end by what it does.
#[cold]
fn hand_over(function: Callback<Spent>, jbuf: Spent) {
    let outer = RECLAIMING.get();
    let frame = Reclaiming { function, outer };
    RECLAIMING.set(&raw const frame);
    // Its panics end there, so that the next line is reached.
    frame.function.call(jbuf);
    RECLAIMING.set(outer);
}

/// Has the calling thread keep a slot, or puts it on a stack of its shard.
///
/// # Safety
///
/// The caller owns the slot, which is of `slab`, and does not use it again.
#[inline]
unsafe fn give_back(slab: NonNull<Slab>, slot: u32) {
    // SAFETY: the slab and what it belongs to live until the slot is back.
    let of = unsafe { slab.as_ref() };
    // SAFETY: as above.
    let shared = unsafe { of.shared.as_ref() };
    let is_kept = shared
        .kept()
        .is_some_and(|kept| kept.give(of.class, slot, slab.as_ptr()));
    if !is_kept {
        // SAFETY: the caller's promise is passed on; the slot is not back.
        unsafe { give_to_stack(slab, slot) };
    }
}

/// As above, where the thread keeps no more.
///
/// # Safety
///
/// As above.
#[inline(never)]
unsafe fn give_to_stack(slab: NonNull<Slab>, slot: u32) {
    // SAFETY: the slab and what it belongs to live until the slot is back.
    let slab = unsafe { slab.as_ref() };
    // SAFETY: as above.
    let shared = unsafe { slab.shared.as_ref() };
    let cell = shared.own().cell(slab.class);
    let (_, i) = shared.table.split(slot);
    cell.out.fetch_sub(1, Ordering::Relaxed);
    // From here on only what `push` was given is used, unless the slot is still ours.
    if cell
        .stack
        .push(slab.link(i), slot, WANTED | CLOSED)
        .is_err()
    {
        // SAFETY: the caller's promise is passed on; the slot is not back.
        unsafe { give_back_slowly(slab.shared, NonNull::from(slab), slot) };
    }
}

/// As above, where somebody waits for it, or the pool is closed.
///
/// # Safety
///
/// As above.
#[cold]
unsafe fn give_back_slowly(at: NonNull<Shared>, slab: NonNull<Slab>, slot: u32) {
    // SAFETY: it lives until the slot is back.
    let shared = unsafe { at.as_ref() };
    // SAFETY: as above.
    let slab = unsafe { slab.as_ref() };
    let (_, i) = shared.table.split(slot);
    let stack = &shared.own().cell(slab.class).stack;
    // With a handle the pool is not closed before this is done.
    if let Some(handle) = shared.handle.upgrade() {
        let Ok(()) = stack.push(slab.link(i), slot, 0) else {
            unreachable!("no flag is heeded")
        };
        shared.waiting.came_back();
        drop(handle);
    } else if stack.push(slab.link(i), slot, CLOSED).is_err() && shared.outstanding.came_back() {
        // SAFETY: this was the last, and it was told.
        unsafe { Shared::end(at) };
    }
}
