//! The single pass over a message that checks its bytes and makes them native.
//!
//! Invariants of a [`Pass`], on which every unsafe block here relies:
//! 1. In each segment, `origin` advanced by any offset from `cursor` up to `end` lies inside the
//!    buffer that the pass reads (or one past its end), with provenance over all of it.
//! 2. The segments are disjoint. All bytes below a segment's `cursor` have been claimed, each byte
//!    by one target.
//! 3. Every byte from `cursor` to `end` is initialised.
//! 4. A run in the queue is memory that was claimed for values of the run's type, is aligned for
//!    it, and has not been read yet.
//!
//! This file is in an import cycle with `queue`, `lists`, `trace` and `class`, because function
//! pointers close it: a run in the queue has the function that reads it, and a class in the lists
//! has those that claim, read and trace its values. They take the pass or the trace, which hold the
//! queue and the classes.

use std::ptr;

use super::fault::{Edge, Fault, FaultKind, NONE};
use super::lists::PassLists;
use super::owners::{NO_OWNERS, OwnerChange};
use super::queue::{PendingRun, Queue};
use super::shared::PassRoot;
use crate::wire::{align_up, in_memory};

/// A part of the message that is claimed from start to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimedSegment {
    pub(super) origin: *mut u8,
    pub(super) cursor: usize,
    pub(super) end: usize,
    /// A power of two that divides the address of `origin`, at most
    /// [`ALIGNMENT`](crate::buffer::ALIGNMENT). In the objects segment, at least
    /// [`LEAST_ALIGNMENT`](crate::buffer::LEAST_ALIGNMENT).
    pub(super) align: usize,
}

impl ClaimedSegment {
    /// Claims `size` bytes, at most `isize::MAX`, aligned to `align`. Fails unless `place` is the
    /// next free place. The segment must be aligned to `least` at least.
    #[inline(always)]
    pub(super) fn claim(
        &mut self,
        place: u64,
        align: usize,
        least: usize,
        size: usize,
    ) -> Result<*mut u8, FaultKind> {
        debug_assert!(size <= isize::MAX.unsigned_abs() && self.align >= least);
        let at = align_up(self.cursor, align);
        if place != at as u64 {
            return Err(FaultKind::Misplaced);
        }
        // `end` is a length in memory plus at most 128, and `at` exceeds it by at most 127. So the
        // difference is negative if `at` is past the end, and a single comparison detects both
        // errors.
        let rest = self.end.wrapping_sub(at) as isize;
        if rest < size as isize || align > least && align > self.align {
            return Err(FaultKind::PastEnd);
        }
        self.cursor = at.wrapping_add(size);
        Ok(self.origin.wrapping_add(at))
    }
}

/// The state of a read: a cursor in each segment, and the targets that were claimed but not yet
/// read.
#[derive(Debug)]
pub struct Pass<'r> {
    pub(super) objects: ClaimedSegment,
    pub(super) bulk: ClaimedSegment,
    pub(super) text: ClaimedSegment,
    /// True if all text is ASCII, so that no string can split a character.
    pub(super) ascii: bool,
    pub(super) zero_sized: usize,
    /// The sum of the cursors of objects and bulk up to which claimed bytes were counted against
    /// elements without size.
    pub(super) counted_bytes: usize,
    pub(super) depth: Depth,
    /// The offset of the next object that begins a level or has another owner than the object
    /// before it.
    pub(super) event: usize,
    pub(super) queue: &'r mut Queue,
    /// The root, which is the first shared target if there are any.
    pub(super) root: PassRoot,
    pub(crate) lists: PassLists<'r>,
}

/// Number of pointers between the root and the object being read.
///
/// Objects are read level by level, so tracking the depth only needs a comparison with the end of
/// the current level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) now: usize,
    /// Offset of the end of the current level, if there are owners other than the root. Otherwise
    /// that is the `event` of the pass.
    pub(super) end: usize,
    pub(super) max: usize,
}

impl Pass<'_> {
    /// Creates the edge of a pointer whose target is not shared.
    #[inline(always)]
    pub(crate) fn edge<S>(slot: *mut S, place: u64, meta: u64) -> Edge {
        Edge {
            slot: slot.cast(),
            place,
            meta,
            number: NONE,
        }
    }

    /// Creates the edge of the first pointer to the shared target with this number.
    #[inline(always)]
    pub(super) fn shared_edge(slot: *mut u8, place: u64, meta: u64, number: u32) -> Edge {
        Edge {
            slot,
            place,
            meta,
            number,
        }
    }

    /// Claims the text of a string.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the pointer if the text is not at the next free place, or if it splits a
    /// character.
    #[inline(always)]
    pub(crate) fn string(&mut self, edge: Edge) -> Result<*const str, Fault> {
        let len = in_memory(edge.meta);
        if len > max_count::<u8>() {
            return Err(edge.fault(FaultKind::PastEnd));
        }
        let text = self.text.claim(edge.place, 1, 1, len);
        let text = text.map_err(|kind| edge.fault(kind))?;
        // The text before the cursor was split at character boundaries, so only the new end can be
        // wrong.
        if !self.ascii && !self.at_boundary() {
            return Err(edge.fault(FaultKind::SplitCharacter));
        }
        Ok(ptr::slice_from_raw_parts(text.cast_const(), len) as *const str)
    }

    /// Records that the message has a pointer in a `Cell`.
    #[inline(always)]
    pub(crate) fn note_cell(&mut self) {
        self.lists.get_mut().shared.cells = true;
    }

    /// Consumes the tag of `slot` from the text segment.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of `slot` if the text has ended or the byte is neither 0 nor 1.
    #[inline(always)]
    pub(crate) fn tag<S>(&mut self, slot: *mut S) -> Result<bool, Fault> {
        if self.text.cursor >= self.text.end {
            return Err(Fault::new(slot, FaultKind::PastEnd));
        }
        // SAFETY: the cursor is below the end, so by invariants 1 and 3 this byte lies inside the
        // buffer and is initialised. Nothing writes to the text segment.
        let byte = unsafe { self.text.origin.wrapping_add(self.text.cursor).read() };
        self.text.cursor = self.text.cursor.wrapping_add(1);
        // One comparison: with a `match`, the compiler may branch on the variant, which is
        // unpredictable.
        if byte > 1 {
            return Err(Fault::new(slot, FaultKind::Tag));
        }
        Ok(byte == 1)
    }

    /// Returns true if no character of the text extends across the cursor.
    #[inline(always)]
    fn at_boundary(&self) -> bool {
        if self.text.cursor >= self.text.end {
            return true;
        }
        // SAFETY: as in `tag`.
        let byte = unsafe { self.text.origin.wrapping_add(self.text.cursor).read() };
        byte & 0b1100_0000 != 0b1000_0000
    }

    /// Counts elements without size, of which each byte that was claimed before allows one. So a
    /// column of such elements beside one of keys costs nothing, and the work of the program stays
    /// linear in the length of the message.
    #[cold]
    pub(super) fn count_zero_sized(&mut self, count: usize) -> Result<(), FaultKind> {
        let claimed = self.objects.cursor.wrapping_add(self.bulk.cursor);
        let allowed = claimed.saturating_sub(self.counted_bytes).min(count);
        self.counted_bytes = self.counted_bytes.wrapping_add(allowed);
        match self.zero_sized.checked_sub(count.wrapping_sub(allowed)) {
            Some(rest) => {
                self.zero_sized = rest;
                Ok(())
            }
            None => Err(FaultKind::ZeroSized),
        }
    }

    /// Returns the number of pointers that may follow one another below the object being read.
    #[cfg(feature = "rkyv")]
    pub(crate) fn levels_left(&self) -> usize {
        self.depth.max.saturating_sub(self.depth.now)
    }

    /// Records why an adapter rejects a value, for the fault that the caller returns next.
    #[cold]
    pub(crate) fn set_adapter_error(&mut self, why: String) {
        self.lists.get_mut().checks.adapter_error = Some(why);
    }

    /// Reads queued runs until the queue is empty.
    #[inline]
    pub(super) fn drain(&mut self) -> Result<(), Fault> {
        while let Some(PendingRun { read, start, end }) = self.queue.pop() {
            // SAFETY: by invariant 4 the run is unread memory of the type that `read` was made
            // for, and it was just taken off the queue.
            unsafe { read(self, start, end)? };
        }
        if self.has_owners() {
            self.note_last();
        }
        Ok(())
    }
}

impl Pass<'_> {
    /// Returns true if an object that was claimed belongs to a target other than the root.
    #[inline(always)]
    fn has_owners(&self) -> bool {
        // The lists are not accessed before they were changed.
        self.lists.have_changed() && self.lists.get().owners.reading.stride != NO_OWNERS
    }

    /// Returns true if the objects claimed last have another owner than the object being read.
    #[inline(always)]
    pub(super) fn has_claimed_for_another(&self) -> bool {
        if !self.lists.have_changed() {
            return false;
        }
        let owners = &self.lists.get().owners;
        owners.claimed != owners.reading.owner
    }

    /// Records that the objects claimed from `start` on belong to the owner of the object being
    /// read.
    #[cold]
    pub(super) fn belong(&mut self, start: usize) {
        let owners = &mut self.lists.get_mut().owners;
        owners.claimed = owners.reading.owner;
        owners.stride = 0;
        let change = OwnerChange {
            start,
            number: owners.claimed,
            stride: 0,
        };
        self.change(change);
    }

    /// Records that the objects claimed from `start` to `end` are one shared target.
    #[inline(never)]
    pub(super) fn record_shared_owner(
        &mut self,
        start: usize,
        end: usize,
        number: u32,
        is_one: bool,
    ) {
        let stride = if is_one { end.wrapping_sub(start) } else { 0 };
        let owners = &mut self.lists.get_mut().owners;
        let continues = is_one
            && owners.claimed == NONE
            && (owners.stride, owners.end, owners.next) == (stride, start, number);
        // The objects of a target with several values all belong to it, and a following target
        // begins a new change.
        owners.claimed = NONE;
        owners.stride = stride;
        owners.end = end;
        owners.next = number.wrapping_add(1);
        let change = OwnerChange {
            start,
            number,
            stride,
        };
        if !continues {
            self.change(change);
        }
    }

    fn change(&mut self, change: OwnerChange) {
        let owners = &mut self.lists.get_mut().owners;
        if owners.reading.stride == NO_OWNERS {
            // The first change lies behind all objects that were claimed before it.
            owners.reading.stride = 0;
            owners.reading.next = self.event;
            self.depth.end = self.event;
        }
        owners.push(change);
    }

    /// Called at an object that begins a level or has another owner than the object before it.
    #[inline(always)]
    pub(super) fn next_owner(&mut self, at: usize) {
        if !self.has_owners() {
            self.depth.now = self.depth.now.wrapping_add(1);
            self.event = self.objects.cursor;
            return;
        }
        let reading = &mut self.lists.get_mut().owners.reading;
        if at < reading.next {
            // The next one of several adjacent targets.
            reading.owner = reading.owner.wrapping_add(1);
            self.event = reading.next.min(at.wrapping_add(reading.stride));
        } else {
            self.next_owner_slow(at);
        }
    }

    #[inline(never)]
    fn next_owner_slow(&mut self, at: usize) {
        self.note_last();
        if at >= self.depth.end {
            self.depth.now = self.depth.now.wrapping_add(1);
            self.depth.end = self.objects.cursor;
        }
        let owners = &mut self.lists.get_mut().owners;
        let before = owners.current.start;
        let next = owners.take_up_to(at);
        let current = owners.current;
        let reading = &mut owners.reading;
        reading.owner = if current.stride != 0 && current.start == before {
            reading.owner.wrapping_add(1)
        } else {
            current.number
        };
        reading.stride = current.stride;
        reading.next = self.depth.end.min(next);
        self.event = if current.stride == 0 {
            reading.next
        } else {
            reading.next.min(at.wrapping_add(current.stride))
        };
    }

    /// Records the depth of the objects read so far, if they belong to a target other than the
    /// root.
    pub(super) fn note_last(&mut self) {
        let OwnerChange { number, stride, .. } = self.lists.get().owners.current;
        if stride == 0 && number != 0 {
            let now = u32::try_from(self.depth.now).unwrap_or(NONE.wrapping_sub(1));
            self.lists.get_mut().shared.note_last(number, now);
        }
    }
}

/// Returns the maximum number of values of `T` in one allocation; unlimited for zero-sized types.
pub(super) const fn max_count<T>() -> usize {
    match isize::MAX.unsigned_abs().checked_div(size_of::<T>()) {
        Some(most) => most,
        None => usize::MAX,
    }
}
