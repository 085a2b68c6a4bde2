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

use super::checks::Checks;
use super::fold;
use super::owners::Owners;
use super::queue::{Queue, ReadRun, Run};
use super::shared::{NONE, Table};
use crate::buffer::ALIGNMENT;
use crate::class::Noted;
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
    /// More shared objects, or pointers to them, than [`Limits::shared`](super::Limits::shared).
    Shared,
    /// A shared pointer names no target that was met before, or one of another type or length.
    NotShared,
    /// An object reaches itself although no pointer on the way may change.
    Circle,
    /// An object is deeper than [`Limits::depth`](super::Limits::depth) on another way than the first.
    Far,
    /// An adapter of the program refuses the wire value.
    Adapter,
    /// A pointer to a trait object names a class that is not registered.
    Class,
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
        if rest < size as isize || align > 1 && align > self.align {
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
    /// The place of the next object with which a level begins or whose owner is another.
    pub(super) event: usize,
    /// The same, but for targets side by side, of the size `stride`.
    pub(super) turn: usize,
    pub(super) stride: usize,
    /// The number of the shared target that what is being read belongs to.
    pub(super) owner: u32,
    /// The number of that which the objects claimed last belong to, or [`NONE`].
    pub(super) claimed: u32,
    pub(super) owners: &'r mut Owners,
    pub(super) queue: &'r mut Queue,
    pub(super) shared: &'r mut Table,
    pub(super) checks: &'r mut Checks,
    /// The classes of all trait objects met, in the order of their pointers.
    pub(crate) classes: &'r mut Vec<Noted>,
}

/// How many edges lie between the root and what is being read.
///
/// Objects are read level by level, so this takes no more than a look at where the level ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) now: usize,
    /// Where the objects of this level end.
    pub(super) end: usize,
    pub(super) max: usize,
}

/// A pointer in wire form, taken out of its slot.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// Where it stands: what a fault is blamed on.
    pub(crate) slot: *mut u8,
    /// Where its target stands.
    pub(crate) place: u64,
    /// What else a wide pointer says: a length, or a class.
    pub(crate) meta: u64,
    /// The number of its target, if that is shared; else [`NONE`].
    number: u32,
}

impl Edge {
    /// The fault of this pointer. Inlined, so that only the slot leaves its register.
    #[inline(always)]
    pub(crate) fn fault(self, kind: FaultKind) -> Fault {
        Fault::new(self.slot, kind)
    }
}

impl Pass<'_> {
    /// The edge of a pointer with one way to its target.
    #[inline(always)]
    pub(crate) fn edge<S>(slot: *mut S, place: u64, meta: u64) -> Edge {
        Edge {
            slot: slot.cast(),
            place,
            meta,
            number: NONE,
        }
    }

    /// The edge of the first pointer to the shared target of this number.
    #[inline(always)]
    pub(super) fn shared_edge(slot: *mut u8, place: u64, meta: u64, number: u32) -> Edge {
        Edge {
            slot,
            place,
            meta,
            number,
        }
    }

    /// Claims the target of a pointer: `count` values of `T`, side by side.
    ///
    /// Flat targets are to be read at once, with [`read_if_flat`](Self::read_if_flat); the others
    /// are queued to be read after everything that was claimed before them.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the pointer when the target is not where it must be.
    #[inline(always)]
    pub(crate) fn claim<T: InPlace>(&mut self, edge: Edge, count: u64) -> Result<*mut T, Fault> {
        const { assert_form::<T>() };
        let count = in_memory(count);
        if count > most_of::<T>() {
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
        let run = Run {
            read: run::<T> as ReadRun,
            start: self.objects.cursor.wrapping_sub(size),
            end: self.objects.cursor,
        };
        if edge.number != NONE {
            self.belong_to_shared(run.start, run.end, edge.number, count == 1)
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
        target: *const T,
        count: usize,
    ) -> Result<(), Fault> {
        if let Some(most) = T::SHAPE.most {
            let rest = self
                .bulk
                .end
                .wrapping_sub(self.bulk.cursor)
                .wrapping_add(count);
            // SAFETY: `claim` has just moved the cursor behind the target, so by invariants 1 and 3
            // that many bytes from its start on lie inside the buffer and are initialised.
            return unsafe { fold::bytes_with_more(target.cast_mut().cast(), count, rest, most) };
        }
        if T::SHAPE.flat {
            // SAFETY: the claim is aligned for `T`, inside the buffer, initialised and derived from
            // its base by invariants 1 and 3, so it may be written to, and has room for `count`
            // values.
            unsafe { T::read_all(target.cast_mut(), count, self)? };
        }
        Ok(())
    }

    /// Claims the text of a string.
    ///
    /// # Errors
    ///
    /// A [`Fault`] of the pointer when the text is not where it must be, or splits a character.
    #[inline(always)]
    pub(crate) fn string(&mut self, edge: Edge) -> Result<*const str, Fault> {
        let len = in_memory(edge.meta);
        if len > most_of::<u8>() {
            return Err(edge.fault(FaultKind::PastEnd));
        }
        let text = self.text.claim(edge.place, 1, len);
        let text = text.map_err(|kind| edge.fault(kind))?;
        // What lies before the cursor was cut at boundaries, so only the new end can be none.
        if !self.ascii && !self.at_boundary() {
            return Err(edge.fault(FaultKind::SplitCharacter));
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

    /// How many pointers may follow one another from what is being read on.
    #[cfg(feature = "rkyv")]
    pub(crate) fn levels_left(&self) -> usize {
        self.depth.max.saturating_sub(self.depth.now)
    }

    /// Says why an adapter refuses a value, for the fault that comes next.
    #[cold]
    pub(crate) fn say(&mut self, why: String) {
        self.checks.said = Some(why);
    }

    /// Reads what is queued until nothing is left.
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
            if at >= pass.event {
                pass.turn(at);
            }
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
