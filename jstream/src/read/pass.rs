//! The one pass over a message that checks its bytes and makes them native.
//!
//! Invariants of a [`Pass`], on which every unsafe block here relies:
//! 1. `origin` of each segment, advanced by any place from `cursor` up to `end`, lies inside the
//!    buffer that the pass walks (or one past its end), with provenance over all of it.
//! 2. The segments are disjoint, and what lies below a segment's `cursor` has been claimed, each
//!    byte by one target.
//! 3. Every byte from `cursor` to `end` is initialised.
//! 4. A run in the queue is memory that was claimed for values of the run's type, aligned for it,
//!    and not yet read.

use std::mem::{align_of, size_of};
use std::ptr::{self, NonNull};

use super::queue::{Queue, ReadRun, Run};
use crate::buffer::ALIGNMENT;
use crate::model::InPlace;
use crate::wire::{align_up, in_memory};

/// Where in the buffer the bytes are not what they should be.
///
/// Carries no text: the path and the message are worked out from it once the pass has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub(crate) slot: NonNull<u8>,
    pub(crate) kind: FaultKind,
}

/// What is wrong with a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// The value's bytes are none of the type's values.
    Invalid,
    /// The tag that stands in the text for a value without room for it is none.
    Tag,
    /// A pointer names another place than the next free one.
    Misplaced,
    /// A target begins or ends past its segment.
    PastEnd,
    /// A string begins or ends inside a character.
    SplitCharacter,
    /// More elements without size than [`Limits::zero_sized`](super::Limits::zero_sized).
    ZeroSized,
    /// Deeper than [`Limits::depth`](super::Limits::depth).
    Depth,
    /// More work put off than [`Limits::pending`](super::Limits::pending).
    Pending,
}

impl Fault {
    /// A fault of the slot at `slot`.
    ///
    /// # Panics
    ///
    /// When `slot` is null, which no slot is.
    #[cold]
    pub fn new<T>(slot: *mut T, kind: FaultKind) -> Self {
        Self {
            slot: NonNull::new(slot.cast()).expect("a slot is part of an allocation"),
            kind,
        }
    }
}

/// A part of the message with its own order of targets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) origin: *mut u8,
    pub(super) cursor: usize,
    pub(super) end: usize,
    /// A power of two that divides the address of `origin`, at most [`ALIGNMENT`].
    pub(super) align: usize,
}

impl Segment {
    /// Claims `size` bytes, at most `isize::MAX`, aligned to `align`, which must be where `place`
    /// says.
    #[inline(always)]
    fn claim(&mut self, place: u64, align: usize, size: usize) -> Result<*mut u8, FaultKind> {
        debug_assert!(size <= isize::MAX.unsigned_abs());
        let at = align_up(self.cursor, align);
        if place != at as u64 {
            return Err(FaultKind::Misplaced);
        }
        // `end` is a length in memory plus 128 at most, and `at` at most 127 beyond it. So this is
        // negative where `at` is past the end, and one comparison finds both ways to be.
        let rest = self.end.wrapping_sub(at) as isize;
        if rest < size as isize || align > self.align {
            return Err(FaultKind::PastEnd);
        }
        self.cursor = at.wrapping_add(size);
        Ok(self.origin.wrapping_add(at))
    }
}

/// The state of a read: a cursor in each segment, and what has been claimed but not yet read.
#[derive(Debug)]
pub struct Pass<'r> {
    pub(super) objects: Segment,
    pub(super) bulk: Segment,
    pub(super) text: Segment,
    /// Whether all text is ASCII, so that no string can split a character.
    pub(super) ascii: bool,
    pub(super) zero_sized: usize,
    pub(super) depth: Depth,
    pub(super) queue: &'r mut Queue,
}

/// How many edges lie between the root and what is being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) now: u32,
    /// 1 where depth is limited; 0 where it is not, so that runs of all depths merge.
    pub(super) step: u32,
    pub(super) max: u32,
}

impl Pass<'_> {
    /// Claims the target of the pointer in `slot`: `count` values of `T`, side by side.
    ///
    /// Flat targets are to be read at once, with [`read_if_flat`](Self::read_if_flat); the others
    /// are queued to be read after everything that was claimed before them.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of `slot` when the target is not where it must be.
    #[inline(always)]
    pub(crate) fn claim<T: InPlace, S>(
        &mut self,
        slot: *mut S,
        place: u64,
        count: u64,
    ) -> Result<*mut T, Fault> {
        const { assert_form::<T>() };
        let fault = |kind| Fault::new(slot, kind);
        let count = in_memory(count);
        if count > most_of::<T>() {
            return Err(fault(FaultKind::PastEnd));
        }
        let size = count.wrapping_mul(size_of::<T>());
        if size_of::<T>() == 0 {
            self.count_zero_sized(count).map_err(fault)?;
        }
        if T::SHAPE.flat {
            let target = self.bulk.claim(place, align_of::<T>(), size);
            return Ok(target.map_err(fault)?.cast());
        }
        let target = self.objects.claim(place, align_of::<T>(), size);
        let target = target.map_err(fault)?;
        let depth = self.depth.now.wrapping_add(self.depth.step);
        if depth > self.depth.max {
            return Err(fault(FaultKind::Depth));
        }
        let queued = self.queue.push(Run {
            read: run::<T> as ReadRun,
            start: self.objects.cursor.wrapping_sub(size),
            end: self.objects.cursor,
            depth,
        });
        if queued {
            Ok(target.cast())
        } else {
            Err(fault(FaultKind::Pending))
        }
    }

    /// Reads a target that was not queued.
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
        target: *mut T,
        count: usize,
    ) -> Result<(), Fault> {
        if T::SHAPE.flat {
            // SAFETY: the claim is aligned for `T`, inside the buffer, initialised and derived from
            // its base by invariants 1 and 3, and has room for `count` values.
            unsafe { T::read_all(target, count, self)? };
        }
        Ok(())
    }

    /// Claims the text of the string in `slot`.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of `slot` when the text is not where it must be, or splits a character.
    #[inline(always)]
    pub(crate) fn string<S>(
        &mut self,
        slot: *mut S,
        place: u64,
        len: u64,
    ) -> Result<*const str, Fault> {
        let fault = |kind| Fault::new(slot, kind);
        let len = in_memory(len);
        if len > most_of::<u8>() {
            return Err(fault(FaultKind::PastEnd));
        }
        let text = self.text.claim(place, 1, len).map_err(fault)?;
        // What lies before the cursor was cut at boundaries, so only the new end can be none.
        if !self.ascii && !self.at_boundary() {
            return Err(fault(FaultKind::SplitCharacter));
        }
        Ok(ptr::slice_from_raw_parts(text.cast_const(), len) as *const str)
    }

    /// Takes the tag of `slot` off the text.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of `slot` when the text has ended or the byte is neither 0 nor 1.
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

    /// Whether no character of the text continues across the cursor.
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

    /// Reads what is queued until nothing is left.
    pub(super) fn drain(&mut self) -> Result<(), Fault> {
        while let Some(run) = self.queue.pop() {
            self.depth.now = run.depth;
            let read = run.read;
            // SAFETY: by invariant 4 the run is unread memory of the type that `read` was made
            // for, and it was just taken off the queue.
            unsafe { read(self, run)? };
        }
        Ok(())
    }
}

/// Reads the values of one run, and of runs that continue it.
///
/// # Safety
///
/// `of` must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, and must have been taken off the queue.
unsafe fn run<T: InPlace>(pass: &mut Pass<'_>, mut of: Run) -> Result<(), Fault> {
    loop {
        let mut at = of.start;
        while at < of.end {
            let slot = pass.objects.origin.wrapping_add(at).cast::<T>();
            // SAFETY: the run was claimed for values of `T`: aligned, inside the buffer and
            // initialised, and this one has not been read yet.
            unsafe { T::read(slot, pass)? };
            at = at.wrapping_add(size_of::<T>());
        }
        // In a list or a tree the next run starts where this one ended, so it is taken without
        // leaving the loop.
        match pass.queue.pop_same(run::<T> as ReadRun, of.end) {
            Some(next) => of = next,
            None => return Ok(()),
        }
        pass.depth.now = of.depth;
    }
}

/// As many values as an object in memory can have. Of a type without size, all.
const fn most_of<T>() -> usize {
    match isize::MAX.unsigned_abs().checked_div(size_of::<T>()) {
        Some(most) => most,
        None => usize::MAX,
    }
}

/// What must hold of every form that is read through a pointer or as a root.
///
/// # Panics
///
/// When it does not; called in constants, so that the program does not compile.
pub const fn assert_form<T: InPlace>() {
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "an in-place form may be aligned to 128 bytes at most"
    );
    assert!(
        !std::mem::needs_drop::<T>(),
        "an in-place form must not need dropping: nobody would drop it"
    );
    assert!(
        T::SHAPE.flat || size_of::<T>() > 0,
        "a form without size can't hold pointers"
    );
}
