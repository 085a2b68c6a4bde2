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

use std::mem::{align_of, size_of};
use std::ptr::{self, NonNull};

use super::byte_check;
use super::checks::Checks;
use super::owners::Owners;
use super::queue::{PendingRun, Queue, ReadRun};
use super::shared::{NONE, SharedTable};
use crate::buffer::ALIGNMENT;
use crate::class::Noted;
use crate::model::InPlace;
use crate::wire::{align_up, in_memory};

/// An error found by the pass: the slot with the invalid bytes and the kind of the error.
///
/// Carries no text: the path and the message are computed from it after the pass has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub(crate) slot: NonNull<u8>,
    pub(crate) kind: FaultKind,
}

/// The kind of error found in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The bytes are not a valid value of the type.
    Invalid,
    /// The tag that a value keeps in the text segment is neither 0 nor 1.
    Tag,
    /// A pointer names a place other than the next free one.
    Misplaced,
    /// A target begins or ends beyond the end of its segment.
    PastEnd,
    /// A string begins or ends inside a character.
    SplitCharacter,
    /// More zero-sized elements than [`Limits::zero_sized`](super::Limits::zero_sized).
    ZeroSized,
    /// Deeper than [`Limits::depth`](super::Limits::depth).
    Depth,
    /// More queued runs than [`Limits::pending`](super::Limits::pending).
    Pending,
    /// More shared objects, or pointers to them, than [`Limits::shared`](super::Limits::shared).
    Shared,
    /// A shared pointer names a target that was not read before, or one of another type or length.
    NotShared,
    /// An object reaches itself on a path without a `Cell`.
    Cycle,
    /// An object is deeper than [`Limits::depth`](super::Limits::depth) on a path other than the
    /// first.
    DeepOnOtherPath,
    /// An adapter of the program rejects the wire value.
    Adapter,
    /// A pointer to a trait object names an unregistered class.
    Class,
}

impl Fault {
    /// Creates a fault of the slot at `slot`.
    ///
    /// # Panics
    ///
    /// Panics if `slot` is null.
    #[cold]
    pub fn new<T>(slot: *mut T, kind: FaultKind) -> Self {
        Self {
            slot: NonNull::new(slot.cast()).expect("a slot is part of an allocation"),
            kind,
        }
    }
}

/// A part of the message that is claimed from start to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimedSegment {
    pub(super) origin: *mut u8,
    pub(super) cursor: usize,
    pub(super) end: usize,
    /// A power of two that divides the address of `origin`, at most [`ALIGNMENT`].
    pub(super) align: usize,
}

impl ClaimedSegment {
    /// Claims `size` bytes, at most `isize::MAX`, aligned to `align`. Fails unless `place` is the
    /// next free place.
    #[inline(always)]
    fn claim(&mut self, place: u64, align: usize, size: usize) -> Result<*mut u8, FaultKind> {
        debug_assert!(size <= isize::MAX.unsigned_abs());
        let at = align_up(self.cursor, align);
        if place != at as u64 {
            return Err(FaultKind::Misplaced);
        }
        // `end` is a length in memory plus at most 128, and `at` exceeds it by at most 127. So the
        // difference is negative if `at` is past the end, and a single comparison detects both
        // errors.
        let rest = self.end.wrapping_sub(at) as isize;
        if rest < size as isize || align > 1 && align > self.align {
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
    pub(super) depth: Depth,
    /// The offset of the next object that begins a level or has another owner than the object
    /// before it.
    pub(super) event: usize,
    /// Like `event`, but ignores the change of owner between adjacent targets of the size `stride`.
    pub(super) next_owner: usize,
    pub(super) stride: usize,
    /// The number of the shared target that owns the object being read.
    pub(super) owner: u32,
    /// The number of the shared target that owns the objects claimed last, or [`NONE`].
    pub(super) claimed: u32,
    pub(super) owners: &'r mut Owners,
    pub(super) queue: &'r mut Queue,
    pub(super) shared: &'r mut SharedTable,
    pub(super) checks: &'r mut Checks,
    /// The classes of all trait objects, in the order of their pointers.
    pub(crate) classes: &'r mut Vec<Noted>,
}

/// Number of pointers between the root and the object being read.
///
/// Objects are read level by level, so tracking the depth only needs a comparison with the end of
/// the current level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) now: usize,
    /// Offset of the end of the current level.
    pub(super) end: usize,
    pub(super) max: usize,
}

/// A pointer in wire form, loaded from its slot.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// The slot that held the pointer, to which a fault is attributed.
    pub(crate) slot: *mut u8,
    /// The wire offset of the target.
    pub(crate) place: u64,
    /// The second word of a wide pointer: a length or a class.
    pub(crate) meta: u64,
    /// The number of the target if it is shared; otherwise [`NONE`].
    number: u32,
}

impl Edge {
    /// Returns a fault of this pointer. Inlined so that only the slot has to leave its register.
    #[inline(always)]
    pub(crate) fn fault(self, kind: FaultKind) -> Fault {
        Fault::new(self.slot, kind)
    }
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

    /// Claims the target of a pointer: `count` adjacent values of `T`.
    ///
    /// The caller must read a flat target at once, with [`read_if_flat`](Self::read_if_flat). Other
    /// targets are queued and read after everything that was claimed before them.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the pointer if the target is not at the next free place, or exceeds a limit.
    #[inline(always)]
    pub(crate) fn claim<T: InPlace>(&mut self, edge: Edge, count: u64) -> Result<*mut T, Fault> {
        const { assert_form::<T>() };
        let count = in_memory(count);
        if count > max_count::<T>() {
            return Err(edge.fault(FaultKind::PastEnd));
        }
        let size = count.wrapping_mul(size_of::<T>());
        if size_of::<T>() == 0 {
            self.count_zero_sized(count)
                .map_err(|kind| edge.fault(kind))?;
        }
        let segment = if T::SHAPE.flat {
            &mut self.bulk
        } else {
            &mut self.objects
        };
        let target = segment.claim(edge.place, align_of::<T>(), size);
        let target = target.map_err(|kind| edge.fault(kind))?.cast::<T>();
        if T::SHAPE.verified && !self.checks.push(target, count) {
            return Err(edge.fault(FaultKind::Pending));
        }
        if T::SHAPE.flat {
            return Ok(target);
        }
        if count == 0 {
            return Ok(target);
        }
        if self.depth.now >= self.depth.max {
            return Err(edge.fault(FaultKind::Depth));
        }
        let run = PendingRun {
            read: run::<T> as ReadRun,
            start: self.objects.cursor.wrapping_sub(size),
            end: self.objects.cursor,
        };
        if edge.number != NONE {
            self.record_shared_owner(run.start, run.end, edge.number, count == 1)
                .map_err(|kind| edge.fault(kind))?;
        } else if self.claimed != self.owner {
            self.belong(run.start).map_err(|kind| edge.fault(kind))?;
        }
        if self.queue.push(run) {
            Ok(target)
        } else {
            Err(edge.fault(FaultKind::Pending))
        }
    }

    /// Reads a target that was not queued because it is flat.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the target.
    ///
    /// # Safety
    ///
    /// `claim` must have just returned `target` for `count` values.
    #[inline(always)]
    pub(crate) unsafe fn read_if_flat<T: InPlace>(
        &mut self,
        target: *const T,
        count: usize,
    ) -> Result<(), Fault> {
        if let Some(most) = T::SHAPE.most {
            let rest = self
                .bulk
                .end
                .wrapping_sub(self.bulk.cursor)
                .wrapping_add(count);
            // SAFETY: `claim` has just moved the cursor past the target, so by invariants 1 and 3
            // the `rest` bytes from its start lie inside the buffer and are initialised.
            return unsafe {
                byte_check::bytes_with_more(target.cast_mut().cast(), count, rest, most)
            };
        }
        if T::SHAPE.flat {
            // SAFETY: by invariants 1 and 3 the claimed memory is inside the buffer, initialised
            // and derived from its base, so it may be written to. It is aligned for `T` and has
            // room for `count` values.
            unsafe { T::read_all(target.cast_mut(), count, self)? };
        }
        Ok(())
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
        let text = self.text.claim(edge.place, 1, len);
        let text = text.map_err(|kind| edge.fault(kind))?;
        // The text before the cursor was split at character boundaries, so only the new end can be
        // wrong.
        if !self.ascii && !self.at_boundary() {
            return Err(edge.fault(FaultKind::SplitCharacter));
        }
        Ok(ptr::slice_from_raw_parts(text.cast_const(), len) as *const str)
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
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Fault::new(slot, FaultKind::Tag)),
        }
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

    #[cold]
    fn count_zero_sized(&mut self, count: usize) -> Result<(), FaultKind> {
        match self.zero_sized.checked_sub(count) {
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
        self.checks.adapter_error = Some(why);
    }

    /// Reads queued runs until the queue is empty.
    #[inline]
    pub(super) fn drain(&mut self) -> Result<(), Fault> {
        while let Some(run) = self.queue.pop() {
            let read = run.read;
            // SAFETY: by invariant 4 the run is unread memory of the type that `read` was made
            // for, and it was just taken off the queue.
            unsafe { read(self, run)? };
        }
        self.note_last();
        Ok(())
    }
}

/// Reads the values of one run, and of the runs that continue it.
///
/// # Safety
///
/// `of` must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, and must have been taken off the queue.
unsafe fn run<T: InPlace>(pass: &mut Pass<'_>, mut of: PendingRun) -> Result<(), Fault> {
    loop {
        let mut at = of.start;
        while at < of.end {
            if at >= pass.event {
                pass.next_owner(at);
            }
            let slot = pass.objects.origin.wrapping_add(at).cast::<T>();
            // SAFETY: the run was claimed for values of `T`. So the slot is aligned, inside the
            // buffer and initialised, and it has not been read yet.
            unsafe { T::read(slot, pass)? };
            at = at.wrapping_add(size_of::<T>());
        }
        // In a list or a tree the next run starts where this one ended, so it is read without
        // leaving the loop.
        match pass.queue.pop_same(run::<T> as ReadRun, of.end) {
            Some(next) => of = next,
            None => return Ok(()),
        }
    }
}

/// Returns the maximum number of values of `T` in one allocation; unlimited for zero-sized types.
const fn max_count<T>() -> usize {
    match isize::MAX.unsigned_abs().checked_div(size_of::<T>()) {
        Some(most) => most,
        None => usize::MAX,
    }
}

/// Asserts the requirements on every form that is read through a pointer or as a root.
///
/// # Panics
///
/// Panics if a requirement is violated. Called in constants, so that the program does not compile.
pub const fn assert_form<T: InPlace>() {
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "an in-place form may be aligned to 128 bytes at most"
    );
    assert!(
        !std::mem::needs_drop::<T>(),
        "an in-place form must not need dropping: its drop would never run"
    );
    assert!(
        T::SHAPE.flat || size_of::<T>() > 0,
        "a form without size can't hold pointers"
    );
}
