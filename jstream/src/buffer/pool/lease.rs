//! The return of a slot to the cache of its thread, to a stack, or to the program's reclaim
//! function.

use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::callback::Callback;
use super::list::{CLOSED, WANTED};
use super::slab::Slab;
use super::state::PoolState;
use crate::buffer::{EmptyBuffer, Place, Slot};
use jstream_sync::Ordering;
use jstream_sync::callbacks;

/// The ownership of a slot of a pool: its slab. The number of the slot is stored beside the lease,
/// where it takes no word of its own.
pub(in crate::buffer) struct Lease(NonNull<Slab<PoolState>>);

// SAFETY: all threads access a slab through shared references, and the slab lives as long as the
// lease.
unsafe impl Send for Lease {}
// SAFETY: as above.
unsafe impl Sync for Lease {}

impl Lease {
    #[inline]
    pub(super) fn new(slab: NonNull<Slab<PoolState>>) -> Self {
        Self(slab)
    }

    /// Returns the place of the slot with this number, which has `size` bytes.
    pub(in crate::buffer) fn position(&self, slot: u32, size: usize) -> Place {
        // SAFETY: the slab lives at least until its slot is returned.
        let slab = unsafe { self.0.as_ref() };
        // SAFETY: the pool of the slab lives as long as the slab.
        let (number, i) = unsafe { slab.shared.as_ref() }.table.split(slot);
        Place {
            region: number,
            offset: i.wrapping_mul(size),
        }
    }

    /// Returns the slot to the pool, or passes it to the program's reclaim function.
    ///
    /// # Safety
    ///
    /// No other handle of the slot may be used again. `slot`, `base` and `capacity` must be those
    /// of the slot.
    #[inline]
    pub(in crate::buffer) unsafe fn end(self, slot: u32, base: NonNull<u8>, capacity: usize) {
        let slab = self.0;
        // SAFETY: the slab lives at least until its slot is returned.
        let shared = unsafe { slab.as_ref() }.shared;
        // SAFETY: the pool of the slab lives as long as the slab.
        if let Some(reclaim) = &unsafe { shared.as_ref() }.options.reclaim {
            if !is_reclaiming(reclaim) {
                // SAFETY: the caller promises that this is the only handle from now on.
                let slot = unsafe { Slot::pooled(base, capacity, self, slot) };
                return hand_over(reclaim.clone(), EmptyBuffer::from_slot(slot));
            }
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { give_back(slab, slot) };
    }
}

/// A running reclaim function, and the one from which it was called.
struct Reclaiming {
    function: Callback<EmptyBuffer>,
    outer: *const Self,
}

thread_local! {
    /// The reclaim function that this thread is running, if any. A buffer that the function drops
    /// returns to the pool at once.
    ///
    /// Invariant: the pointer, and each `outer` pointer that follows from it, is null or refers to
    /// a frame of `hand_over` on this thread's stack.
    static RECLAIMING: Cell<*const Reclaiming> = const { Cell::new(ptr::null()) };
}

/// Returns true if this thread is running the function.
fn is_reclaiming(function: &Callback<EmptyBuffer>) -> bool {
    let mut frame = RECLAIMING.get();
    // SAFETY: by the invariant, the frame is on this thread's stack.
    while let Some(reclaiming) = unsafe { frame.as_ref() } {
        if reclaiming.function == *function {
            return true;
        }
        frame = reclaiming.outer;
    }
    false
}

/// Calls the reclaim function, as soon as this thread holds no lock of the library, because the
/// function may use the object that drops the buffer. The function is a clone, because the call may
/// free the pool.
#[cold]
fn hand_over(function: Callback<EmptyBuffer>, jbuf: EmptyBuffer) {
    callbacks::run(move || {
        let outer = RECLAIMING.get();
        let frame = Reclaiming { function, outer };
        RECLAIMING.set(&raw const frame);
        // `call_now` catches panics, so the next line is always reached.
        frame.function.call_now(jbuf);
        RECLAIMING.set(outer);
    });
}

/// Caches a slot for the calling thread, or puts it on the stack of the thread's shard.
///
/// # Safety
///
/// The caller must own the slot, which must be of `slab`, and must not use it again.
#[inline]
unsafe fn give_back(slab: NonNull<Slab<PoolState>>, slot: u32) {
    // SAFETY: the slab and its pool live until the slot is returned.
    let of = unsafe { slab.as_ref() };
    // SAFETY: as above.
    let shared = unsafe { of.shared.as_ref() };
    let is_kept = shared
        .kept()
        .is_some_and(|kept| kept.push(of.class, slot, slab.as_ptr()));
    if !is_kept {
        // SAFETY: the caller's promise is passed on; the slot has not been returned.
        unsafe { give_to_stack(slab, slot) };
    }
}

/// Puts a slot on the stack of the thread's shard.
///
/// # Safety
///
/// As for [`give_back`].
#[inline(never)]
unsafe fn give_to_stack(slab: NonNull<Slab<PoolState>>, slot: u32) {
    // SAFETY: the slab and its pool live until the slot is returned.
    let slab = unsafe { slab.as_ref() };
    // SAFETY: as above.
    let shared = unsafe { slab.shared.as_ref() };
    let cell = shared.own().cell(slab.class);
    let (_, i) = shared.table.split(slot);
    cell.out.fetch_sub(1, Ordering::Relaxed);
    // From here on only the arguments of `push` are used, unless `push` fails and this thread still
    // owns the slot.
    if cell
        .stack
        .push(slab.link(i), slot, WANTED | CLOSED)
        .is_err()
    {
        // SAFETY: the caller's promise is passed on; the slot has not been returned.
        unsafe { give_back_slowly(slab.shared, NonNull::from(slab), slot) };
    }
}

/// Returns a slot if a thread waits for it, or if the pool is closed.
///
/// # Safety
///
/// As for [`give_back`].
#[cold]
unsafe fn give_back_slowly(at: NonNull<PoolState>, slab: NonNull<Slab<PoolState>>, slot: u32) {
    // SAFETY: the pool lives until the slot is returned.
    let shared = unsafe { at.as_ref() };
    // SAFETY: as above.
    let slab = unsafe { slab.as_ref() };
    let (_, i) = shared.table.split(slot);
    let stack = &shared.own().cell(slab.class).stack;
    // The pool cannot be closed while this handle exists.
    if let Some(handle) = shared.handle.upgrade() {
        let Ok(()) = stack.push(slab.link(i), slot, 0) else {
            unreachable!("no flag is heeded")
        };
        shared.waiting.came_back();
        drop(handle);
    } else if stack.push(slab.link(i), slot, CLOSED).is_err() && shared.outstanding.came_back() {
        // SAFETY: this was the last slot, and `Outstanding` has reported that to this thread.
        unsafe { PoolState::end(at) };
    }
}
