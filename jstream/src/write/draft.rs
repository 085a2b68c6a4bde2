//! A message while it is written.
//!
//! Objects are written in the order in which their places were allotted, so the segment grows
//! strictly forward and no slot is held while it does. Text and small bulk arrays gather beside
//! it; large bulk arrays are only noted, to be copied once, or sent from where they are.
//!
//! Invariants of a [`Draft`]:
//! 1. The bytes of `objects` below `written` are initialised, and `written` is at most its
//!    capacity.
//! 2. Jobs lie in the queue in ascending order of their places, none below `written`.
//! 3. What a job or a piece points to outlives `'b`.
//! 4. The base of `objects` is aligned to [`ALIGNMENT`] where `aligned` says so, else to
//!    [`LEAST_ALIGNMENT`]; then places are allotted only for forms that need no more.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;
use std::slice;

use super::back::Back;
use super::blame::NO_ROOM;
use super::claims::LARGEST_ON_STACK;
use super::classes::Classes;
use super::error::WriteError;
use super::jobs::{Job, What, WriteJob};
use super::scratch::{KEEP, Piece, Scratch};
use super::text::{PADDING, append, append_padded, append_within};
use crate::buffer::{ALIGNMENT, LEAST_ALIGNMENT, Spent};
use crate::class::Class;
use crate::model::{InPlace, Transportable};
use crate::read::assert_form;
use crate::wire::{HEADER_LEN, ORIGIN, align_up};

/// Plain arrays of at least this many bytes are not gathered but noted where the message is then copied
/// into one piece, unless a writer says otherwise. Copying fewer twice costs no more than noting them: in
/// the benchmark `gather/many` of the suite `buffers` it takes 0.93 of the time for 64 bytes, 1.27 for 128,
/// 1.8 for 512.
pub(super) const NOTED: usize = 128;

/// Fewer bytes are always gathered, so that single values need not ask how many there must be.
pub(super) const GATHERED: usize = 64;

/// The objects did not fit the jbuf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The state of a write: where the next target of each segment goes.
#[derive(Debug)]
pub struct Draft<'b> {
    pub(super) objects: Spent,
    /// Whether `objects` may be exchanged for a larger one.
    pub(super) growable: bool,
    /// How many bytes each segment may have.
    pub(super) limit: usize,
    /// The same, as a place in the segments that begin at [`ORIGIN`].
    pub(super) limit_from_origin: usize,
    /// Whether a segment would have had more. What is allotted from then on is of no use.
    pub(super) full: bool,
    /// Why a value can't be sent: the first that was met.
    pub(super) refused: Option<WriteError>,
    /// Whether the base of `objects` is aligned to [`ALIGNMENT`]; else it is to [`LEAST_ALIGNMENT`].
    aligned: bool,
    /// Whether a form needed more than that. Then the message is `full` too.
    pub(super) misaligned: bool,
    /// Plain arrays of at least this many bytes, which is [`GATHERED`] at least, are noted.
    noted: usize,
    /// The field whose target found no room.
    pub(super) without_room: Option<String>,
    pub(super) written: usize,
    pub(super) cursor: usize,
    pub(super) bulk_cursor: usize,
    pub(super) bulk_align: usize,
    pub(super) descriptor: u64,
    /// Whether a reference was written that does not own its target, so that anything may be met
    /// again on another way.
    pub(super) borrows: bool,
    /// Whether one was not noted, as it had one owner and nothing was borrowed.
    pub(super) skipped: bool,
    pub(super) scratch: Scratch<'b>,
    /// What is turned back into wire form where it lies, if that is what is done.
    pub(super) back: Back,
    /// The classes of trait objects, where they are wanted. They stay when the message is complete.
    pub(super) classes: Option<Classes>,
    values: PhantomData<&'b ()>,
}

impl<'b> Draft<'b> {
    /// A draft that refers to nothing.
    pub(super) fn new() -> Self {
        Self {
            growable: false,
            limit: 0,
            limit_from_origin: 0,
            full: false,
            refused: None,
            aligned: true,
            misaligned: false,
            noted: 0,
            without_room: None,
            objects: Spent::heap(0),
            written: 0,
            cursor: HEADER_LEN,
            bulk_cursor: ORIGIN,
            bulk_align: 1,
            descriptor: 0,
            borrows: false,
            skipped: false,
            scratch: Scratch::new(),
            back: Back::new(),
            classes: None,
            values: PhantomData,
        }
    }

    /// Begins a message whose segments have `limit` bytes at most.
    #[inline]
    pub(super) fn begin(&mut self, limit: usize, growable: bool, noted: usize) {
        self.growable = growable;
        self.noted = noted.max(GATHERED);
        // Nothing in memory is longer, and sums of two such don't wrap, aligned or not.
        self.limit = limit.min(isize::MAX.unsigned_abs() / 2);
        self.limit_from_origin = self.limit.wrapping_add(ORIGIN);
        self.full = false;
        let base = self.objects.base().addr().get();
        self.aligned = align_up(base, ALIGNMENT) == base;
        self.misaligned = false;
        self.written = 0;
        self.cursor = HEADER_LEN;
        self.bulk_cursor = ORIGIN;
        self.bulk_align = 1;
        self.borrows = false;
        self.skipped = false;
    }

    /// Whether a target that was not noted may have been met again.
    #[inline]
    pub(super) fn has_missed(&self) -> bool {
        self.borrows && self.skipped
    }

    /// Begins the message again, to note all shared targets.
    #[cold]
    pub(super) fn begin_again(&mut self) {
        self.refused = None;
        self.without_room = None;
        self.scratch.clear();
        self.begin(self.limit, self.growable, self.noted);
        self.borrows = true;
    }

    /// Forgets the message; keeps memory for the next.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.back.active {
            // A walk that a panic has ended.
            self.leave_back();
        }
        self.refused = None;
        self.without_room = None;
        let capacity = self.objects.capacity();
        if capacity > KEEP && capacity / 4 > self.written {
            self.objects = Spent::heap(0);
        }
        self.scratch.clear();
    }

    /// Writes the whole graph, the header excepted.
    #[inline]
    pub(super) fn write_root<T: Transportable>(&mut self, root: &'b T) -> Result<(), Full> {
        const { assert_form::<T::InPlace<'b>>() };
        if self.is_misaligned::<T::InPlace<'b>>() {
            return Err(Full);
        }
        self.reserve(HEADER_LEN)?;
        self.zero_up_to(HEADER_LEN);
        self.scratch.shared.set_root(root);
        let at = align_up(HEADER_LEN, align_of::<T::InPlace<'b>>());
        self.cursor = at.saturating_add(size_of::<T::InPlace<'b>>());
        if self.cursor > self.limit {
            return Err(Full);
        }
        let what = What {
            values: ptr::from_ref(root).cast(),
            count: 1,
            at,
        };
        // SAFETY: the place was just allotted for one value, which is borrowed for `'b`.
        unsafe { write_values::<T>(self, what)? };
        while let Some(job) = self.scratch.jobs.pop() {
            let write = job.write;
            // SAFETY: the job was pushed with the function for its type and just taken off.
            unsafe { write(self, job)? };
        }
        // Segments that had the room were not compared with the limit while they grew.
        let longest = self
            .scratch
            .text
            .len()
            .wrapping_add(ORIGIN)
            .max(self.bulk_cursor);
        if self.full || longest > self.limit_from_origin {
            Err(Full)
        } else {
            Ok(())
        }
    }

    /// Whether places for this form can't be aligned, as the message's base is not.
    #[inline(always)]
    fn is_misaligned<F>(&mut self) -> bool {
        if align_of::<F>() <= LEAST_ALIGNMENT || self.aligned {
            return false;
        }
        self.misaligned = true;
        self.full = true;
        true
    }

    /// Allots the place for one value, and returns what is written for a pointer to it.
    #[inline(always)]
    pub(crate) fn single_target<T: Transportable>(&mut self, value: &'b T) -> u64 {
        if <T::InPlace<'b> as InPlace>::SHAPE.flat {
            let small = size_of::<T::InPlace<'b>>() < GATHERED;
            self.bulk(slice::from_ref(value), small)
        } else {
            self.allot(value, 1)
        }
    }

    /// Allots the place for values, and returns what is written for a pointer to it.
    #[inline(always)]
    pub(crate) fn target<T: Transportable>(&mut self, values: &'b [T]) -> u64 {
        if <T::InPlace<'b> as InPlace>::SHAPE.flat {
            self.bulk(values, false)
        } else {
            self.allot(values.as_ptr(), values.len())
        }
    }

    /// Allots a place in the objects segment, to be written after all before it.
    #[inline(always)]
    fn allot<T: Transportable + 'b>(&mut self, values: *const T, count: usize) -> u64 {
        const { assert_form::<T::InPlace<'b>>() };
        if self.is_misaligned::<T::InPlace<'b>>() {
            return NO_ROOM;
        }
        let at = align_up(self.cursor, align_of::<T::InPlace<'b>>());
        let size = count.checked_mul(size_of::<T::InPlace<'b>>());
        let size = size.filter(|size| *size <= isize::MAX.unsigned_abs());
        // Neither is more than half of what a word counts to, so the sum does not wrap.
        match size.map(|size| at.wrapping_add(size)) {
            Some(end) if end <= self.limit => self.cursor = end,
            _ => return self.allot_elsewhere(values, count),
        }
        self.scratch.jobs.push(Job {
            write: write_job::<T> as WriteJob<'_>,
            what: What {
                values: values.cast(),
                count,
                at,
            },
        });
        at as u64
    }

    /// Puts flat values into the bulk segment. `small` says that there are fewer bytes than are ever noted.
    #[inline(always)]
    fn bulk<T: Transportable>(&mut self, values: &'b [T], small: bool) -> u64 {
        const { assert_form::<T::InPlace<'b>>() };
        if self.is_misaligned::<T::InPlace<'b>>() {
            return NO_ROOM;
        }
        let align = align_of::<T::InPlace<'b>>();
        let at = align_up(self.bulk_cursor, align);
        let len = values.len().saturating_mul(size_of::<T::InPlace<'b>>());
        let padding = at.wrapping_sub(self.bulk_cursor);
        self.bulk_align = self.bulk_align.max(align);
        if T::WIRE_IS_MEMORY && (small || len < self.noted) {
            let bulk = &mut self.scratch.bulk;
            let room = len.wrapping_add(PADDING);
            if bulk.capacity().wrapping_sub(bulk.len()) < room {
                if let Some(at) = self.bulk_without_room(values.as_ptr(), values.len(), room) {
                    return at;
                }
            }
            // SAFETY: `WIRE_IS_MEMORY` says that all bytes of the values are initialised and not
            // behind a cell, and that the form has the same size.
            let bytes = unsafe { slice::from_raw_parts(values.as_ptr().cast::<u8>(), len) };
            // SAFETY: there is room for both; the padding is less than the alignment.
            unsafe { append_padded::<T::InPlace<'b>>(&mut self.scratch.bulk, padding, bytes) };
        } else if at.saturating_add(len) > self.limit_from_origin {
            return self.bulk_elsewhere(values.as_ptr(), values.len());
        } else {
            let padded = self.scratch.bulk.len().wrapping_add(padding);
            self.scratch.bulk.resize(padded, 0);
            if T::WIRE_IS_MEMORY {
                self.scratch.pieces.push(Piece {
                    start: values.as_ptr().cast(),
                    len,
                    after: padded,
                });
            } else {
                self.bulk_one_by_one(values);
            }
        }
        self.bulk_cursor = at.wrapping_add(len);
        at as u64
    }

    /// Writes flat values whose bytes in memory are not all to be sent as they are.
    fn bulk_one_by_one<T: Transportable>(&mut self, values: &'b [T]) {
        if size_of::<T::InPlace<'b>>() == 0 {
            return;
        }
        if size_of::<T::InPlace<'b>>() > LARGEST_ON_STACK {
            self.bulk_large_one_by_one(values);
        } else {
            self.bulk_small_one_by_one(values);
        }
    }

    /// As [`bulk_one_by_one`](Self::bulk_one_by_one), of values that fit on the stack. A function of
    /// its own, so that the stack of the others has no room for a form that is never put there.
    fn bulk_small_one_by_one<T: Transportable>(&mut self, values: &'b [T]) {
        let mut form = MaybeUninit::<T::InPlace<'b>>::uninit();
        for value in values {
            // SAFETY: the temporary is aligned, writable, and not used by the draft.
            unsafe { self.bulk_one(value, form.as_mut_ptr()) };
        }
    }

    /// As [`bulk_one_by_one`](Self::bulk_one_by_one), of values that might not fit on the stack.
    #[cold]
    fn bulk_large_one_by_one<T: Transportable>(&mut self, values: &'b [T]) {
        if values.is_empty() {
            return;
        }
        let form = Spent::heap(size_of::<T::InPlace<'b>>());
        for value in values {
            // SAFETY: the jbuf has the size of the form, and the alignment of any form. It is
            // writable, and not used by the draft.
            unsafe { self.bulk_one(value, form.base().as_ptr().cast()) };
        }
    }

    /// Writes a flat value to `form`, and appends the bytes of that to bulk.
    ///
    /// # Safety
    ///
    /// `form` must be aligned, valid for reads and writes, and not overlap memory of the draft.
    #[inline(always)]
    unsafe fn bulk_one<T: Transportable>(&mut self, value: &'b T, form: *mut T::InPlace<'b>) {
        // Zeroed where it is: moving a `MaybeUninit` would not move its padding.
        // SAFETY: the caller's form is writable.
        unsafe { ptr::write_bytes(form, 0, 1) };
        // SAFETY: the caller's form is aligned and writable, and was just zeroed.
        unsafe { value.write(form, self) };
        // SAFETY: the form was zeroed byte by byte and then written to by `write`, which leaves no
        // byte uninitialised. Nothing writes to it while the bytes are borrowed.
        let bytes =
            unsafe { slice::from_raw_parts(form.cast::<u8>(), size_of::<T::InPlace<'b>>()) };
        append(&mut self.scratch.bulk, bytes);
    }

    /// Appends a string, and returns what is written for a pointer to it.
    #[inline(always)]
    pub(crate) fn string(&mut self, text: &str) -> u64 {
        let at = self.scratch.text.len().wrapping_add(ORIGIN);
        // One byte more, so that a segment without memory has no room for an empty string either.
        let room = text.len().wrapping_add(1);
        let segment = &mut self.scratch.text;
        if segment.capacity().wrapping_sub(segment.len()) < room {
            if let Some(at) = self.string_without_room(text, room) {
                return at;
            }
        }
        // SAFETY: there is room for it.
        unsafe { append_within(&mut self.scratch.text, text.as_bytes()) };
        at as u64
    }

    /// Notes that the next target is not owned by the pointer to it.
    #[inline(always)]
    pub(crate) fn borrow(&mut self) {
        self.borrows = true;
    }

    /// Notes that a value is of no registered class.
    #[cold]
    pub(crate) fn unregistered(&mut self, name: String, of: &'static str) {
        let class = name;
        self.refuse(WriteError::Unregistered { class, of });
    }

    /// Notes the class of a trait object, if anybody wants to know.
    #[inline]
    pub(crate) fn note_class(
        &mut self,
        number: u64,
        class: impl FnOnce() -> Option<&'static Class>,
    ) {
        if let Some(classes) = &mut self.classes {
            classes.note(number, class);
        }
    }

    /// Notes that a value can't be sent.
    #[cold]
    pub(crate) fn refuse(&mut self, why: WriteError) {
        self.refused.get_or_insert(why);
    }

    /// Appends the tag of a slot that has no room for it.
    #[inline(always)]
    pub(crate) fn tag(&mut self, tag: bool) {
        let text = &mut self.scratch.text;
        if text.len() == text.capacity() {
            self.tag_elsewhere(tag);
        } else {
            text.push(u8::from(tag));
        }
    }

    /// Writes zeroes from `written` to `end`, for which there must be room.
    #[inline(always)]
    fn zero_up_to(&mut self, end: usize) {
        debug_assert!(end <= self.objects.capacity());
        let gap = end.saturating_sub(self.written);
        if gap == 0 {
            return;
        }
        let start = self.objects.base().as_ptr().wrapping_add(self.written);
        // SAFETY: the caller reserved room up to `end`, and the draft owns the jbuf.
        unsafe { ptr::write_bytes(start, 0, gap) };
        self.written = end;
    }
}

/// Writes the values of one job, and of those that follow with the same type.
///
/// # Safety
///
/// `job` must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, and must have been taken off the queue of `draft`.
unsafe fn write_job<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    job: Job<'b>,
) -> Result<(), Full> {
    let mut what = job.what;
    loop {
        // SAFETY: the caller's promise holds for the first job, `pop_same` gives it for the others.
        unsafe { write_values::<T>(draft, what)? };
        match draft.scratch.jobs.pop_same(write_job::<T> as WriteJob<'_>) {
            Some(next) => what = next,
            None => return Ok(()),
        }
    }
}

/// # Safety
///
/// `what` must be a place that was allotted for values of `T`, or of a type whose instance of this
/// function is the same code, that outlive the draft, and all before it must have been written.
#[inline(always)]
unsafe fn write_values<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    what: What,
) -> Result<(), Full> {
    let What { values, count, at } = what;
    let size = size_of::<T::InPlace<'b>>();
    // `allot` found that this does not wrap.
    let end = at.wrapping_add(count.wrapping_mul(size));
    draft.reserve(end)?;
    draft.zero_up_to(at);
    for i in 0..count {
        // SAFETY: the job is for `count` values that live for `'b` (invariant 3).
        let value: &'b T = unsafe { &*values.cast::<T>().wrapping_add(i) };
        let at = at.wrapping_add(i.wrapping_mul(size));
        let slot = draft.objects.base().as_ptr().wrapping_add(at);
        let slot = slot.cast::<T::InPlace<'b>>();
        if !<T::InPlace<'b> as InPlace>::SHAPE.dense {
            // SAFETY: room up to `end` was reserved, and the slot is aligned for the form: the job's
            // place is, and so is the jbuf's base: to 128, by which `assert_form` bounds the form's
            // alignment, or to 16, which is as much as the form needs if its place was allotted
            // (invariant 4).
            unsafe { ptr::write_bytes(slot, 0, 1) };
        }
        // SAFETY: as above; the slot is zeroed unless the form is dense. Nothing that `write` does
        // to the draft moves `objects`, which only `reserve` exchanges.
        unsafe { value.write(slot, draft) };
    }
    draft.written = end;
    if draft.full {
        // Of a message for a jbuf nobody asks.
        if draft.growable {
            draft.blame::<T>(at, count);
        }
        return Err(Full);
    }
    Ok(())
}
