//! The state of a message being written.
//!
//! Objects are written in the order in which their places were allocated, so the segment grows
//! strictly forward and no slot is held while it grows. Text and small bulk arrays are gathered in
//! separate vectors. Large bulk arrays are only recorded, to be copied once or sent from where they
//! are.
//!
//! Invariants of a [`Draft`]:
//! 1. The bytes of `objects` below `written` are initialised, and `written` is at most its
//!    capacity.
//! 2. Jobs are queued in ascending order of their places, none of which is below `written`.
//! 3. The memory that a job or a piece points to outlives `'b`.
//! 4. The base of `objects` is aligned to [`ALIGNMENT`] if `aligned` is true, otherwise to
//!    [`LEAST_ALIGNMENT`]. In the latter case, places are allocated only for forms that need no
//!    more.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;
use std::slice;

use super::append::{PADDING, append, append_padded, append_within};
use super::blame_field::NO_ROOM;
use super::claims::LARGEST_ON_STACK;
use super::classes::Classes;
use super::error::WriteError;
use super::jobs::{Job, ValueSpan, WriteJob};
use super::scratch::{KEEP, Piece, Scratch};
use super::write_back::WriteBackState;
use crate::buffer::{ALIGNMENT, LEAST_ALIGNMENT, Spent};
use crate::class::Class;
use crate::model::{InPlace, Transportable};
use crate::read::assert_form;
use crate::wire::{HEADER_LEN, ORIGIN, align_up};

/// Plain arrays of at least this many bytes are recorded, not gathered, if the message is then
/// copied into one piece and the writer has no other threshold. For smaller arrays, copying twice
/// costs no more than recording: in the benchmark `gather/many` of the suite `buffers` it takes
/// 0.93 of the time at 64 bytes, 1.27 at 128, and 1.8 at 512.
pub(super) const RECORD_MIN_BYTES: usize = 128;

/// Arrays of fewer bytes are always gathered, so that single values need not check the threshold.
pub(super) const GATHER_ALWAYS_BELOW_BYTES: usize = 64;

/// The error for objects that do not fit into the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The state of a write: the position of the next target in each segment.
#[derive(Debug)]
pub struct Draft<'b> {
    pub(super) objects: Spent,
    /// True if `objects` may be replaced by a larger buffer.
    pub(super) growable: bool,
    /// Maximum length of each segment in bytes.
    pub(super) limit: usize,
    /// The limit of each segment as a place in a segment that begins at [`ORIGIN`].
    pub(super) limit_from_origin: usize,
    /// True if a segment would have exceeded the limit. Places allocated after that are
    /// meaningless.
    pub(super) full: bool,
    /// The reason why the first unsendable value can't be sent.
    pub(super) refused: Option<WriteError>,
    /// True if the base of `objects` is aligned to [`ALIGNMENT`]; otherwise it is aligned to
    /// [`LEAST_ALIGNMENT`].
    aligned: bool,
    /// True if a form needed more than [`LEAST_ALIGNMENT`]. The draft is then `full` too.
    pub(super) misaligned: bool,
    /// Plain arrays of at least this many bytes are recorded, not gathered. At least
    /// [`GATHER_ALWAYS_BELOW_BYTES`].
    record_min_bytes: usize,
    /// The field whose target did not fit.
    pub(super) oversized_field: Option<String>,
    pub(super) written: usize,
    pub(super) cursor: usize,
    pub(super) bulk_cursor: usize,
    pub(super) bulk_align: usize,
    pub(super) descriptor: u64,
    /// True if a reference was written that does not own its target, so that any target may be met
    /// again on another path.
    pub(super) borrows: bool,
    /// True if a shared target was not recorded, because it had one owner and nothing was borrowed.
    pub(super) skipped: bool,
    pub(super) scratch: Scratch<'b>,
    /// The state of restoring a received message in place, if that is in progress.
    pub(super) back: WriteBackState,
    /// The classes of trait objects, if they are recorded. They are kept after the message is
    /// complete.
    pub(super) classes: Option<Classes>,
    values: PhantomData<&'b ()>,
}

impl<'b> Draft<'b> {
    /// Creates a draft that refers to nothing.
    pub(super) fn new() -> Self {
        Self {
            growable: false,
            limit: 0,
            limit_from_origin: 0,
            full: false,
            refused: None,
            aligned: true,
            misaligned: false,
            record_min_bytes: 0,
            oversized_field: None,
            objects: Spent::heap(0),
            written: 0,
            cursor: HEADER_LEN,
            bulk_cursor: ORIGIN,
            bulk_align: 1,
            descriptor: 0,
            borrows: false,
            skipped: false,
            scratch: Scratch::new(),
            back: WriteBackState::new(),
            classes: None,
            values: PhantomData,
        }
    }

    /// Begins a message whose segments have at most `limit` bytes each.
    #[inline]
    pub(super) fn begin(&mut self, limit: usize, growable: bool, record_min_bytes: usize) {
        self.growable = growable;
        self.record_min_bytes = record_min_bytes.max(GATHER_ALWAYS_BELOW_BYTES);
        // No allocation is longer, and the sum of two such lengths does not wrap, even with
        // alignment.
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

    /// Returns true if a target that was not recorded may have been met again.
    #[inline]
    pub(super) fn has_missed(&self) -> bool {
        self.borrows && self.skipped
    }

    /// Begins the message again and records all shared targets.
    #[cold]
    pub(super) fn restart(&mut self) {
        self.refused = None;
        self.oversized_field = None;
        self.scratch.clear();
        self.begin(self.limit, self.growable, self.record_min_bytes);
        self.borrows = true;
    }

    /// Clears the message. Keeps memory for the next one.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.back.active {
            // A panic has interrupted restoring a message in place.
            self.end_write_back();
        }
        self.refused = None;
        self.oversized_field = None;
        let capacity = self.objects.capacity();
        if capacity > KEEP && capacity / 4 > self.written {
            self.objects = Spent::heap(0);
        }
        self.scratch.clear();
    }

    /// Writes the whole graph, but not the header.
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
        let span = ValueSpan {
            values: ptr::from_ref(root).cast(),
            count: 1,
            at,
        };
        // SAFETY: the place was just allocated for one value, which is borrowed for `'b`.
        unsafe { write_values::<T>(self, span)? };
        while let Some(job) = self.scratch.jobs.pop() {
            let write = job.write;
            // SAFETY: the job was pushed with the function for its type and was just taken off the
            // queue.
            unsafe { write(self, job)? };
        }
        // Segments that had enough capacity were not compared with the limit while they grew.
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

    /// Returns true, and fails the message, if the alignment of the form exceeds that of the
    /// message's base.
    #[inline(always)]
    fn is_misaligned<F>(&mut self) -> bool {
        if align_of::<F>() <= LEAST_ALIGNMENT || self.aligned {
            return false;
        }
        self.misaligned = true;
        self.full = true;
        true
    }

    /// Allocates the place for one value. Returns the first word of a pointer to it.
    #[inline(always)]
    pub(crate) fn single_target<T: Transportable>(&mut self, value: &'b T) -> u64 {
        if <T::InPlace<'b> as InPlace>::SHAPE.flat {
            let small = size_of::<T::InPlace<'b>>() < GATHER_ALWAYS_BELOW_BYTES;
            self.bulk(slice::from_ref(value), small)
        } else {
            self.allocate(value, 1)
        }
    }

    /// Allocates the place for a slice. Returns the first word of a pointer to it.
    #[inline(always)]
    pub(crate) fn target<T: Transportable>(&mut self, values: &'b [T]) -> u64 {
        if <T::InPlace<'b> as InPlace>::SHAPE.flat {
            self.bulk(values, false)
        } else {
            self.allocate(values.as_ptr(), values.len())
        }
    }

    /// Allocates a place in the objects segment, and queues the values to be written after all
    /// earlier ones.
    #[inline(always)]
    fn allocate<T: Transportable + 'b>(&mut self, values: *const T, count: usize) -> u64 {
        const { assert_form::<T::InPlace<'b>>() };
        if self.is_misaligned::<T::InPlace<'b>>() {
            return NO_ROOM;
        }
        let at = align_up(self.cursor, align_of::<T::InPlace<'b>>());
        let size = count.checked_mul(size_of::<T::InPlace<'b>>());
        let size = size.filter(|size| *size <= isize::MAX.unsigned_abs());
        // Neither operand exceeds half the range of a `usize`, so the sum does not wrap.
        match size.map(|size| at.wrapping_add(size)) {
            Some(end) if end <= self.limit => self.cursor = end,
            _ => return self.allocate_slow(values, count),
        }
        self.scratch.jobs.push(Job {
            write: write_job::<T> as WriteJob<'_>,
            span: ValueSpan {
                values: values.cast(),
                count,
                at,
            },
        });
        at as u64
    }

    /// Adds flat values to the bulk segment. `small` says that they have fewer bytes than any array
    /// that is recorded.
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
        if T::WIRE_IS_MEMORY && (small || len < self.record_min_bytes) {
            let bulk = &mut self.scratch.bulk;
            let room = len.wrapping_add(PADDING);
            if bulk.capacity().wrapping_sub(bulk.len()) < room {
                if let Some(at) = self.reserve_bulk_slow(values.as_ptr(), values.len(), room) {
                    return at;
                }
            }
            // SAFETY: `WIRE_IS_MEMORY` guarantees that all bytes of the values are initialised and
            // not behind a cell, and that the form has the same size.
            let bytes = unsafe { slice::from_raw_parts(values.as_ptr().cast::<u8>(), len) };
            // SAFETY: there is room for the padding and the bytes. The padding is less than the
            // alignment.
            unsafe { append_padded::<T::InPlace<'b>>(&mut self.scratch.bulk, padding, bytes) };
        } else if at.saturating_add(len) > self.limit_from_origin {
            return self.place_bulk_slow(values.as_ptr(), values.len());
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

    /// Writes flat values whose memory representation differs from their wire form.
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

    /// Like [`bulk_one_by_one`](Self::bulk_one_by_one), for values that fit on the stack. A
    /// separate function, so that its callers have no stack space for a form that is never put
    /// there.
    fn bulk_small_one_by_one<T: Transportable>(&mut self, values: &'b [T]) {
        let mut form = MaybeUninit::<T::InPlace<'b>>::uninit();
        for value in values {
            // SAFETY: the temporary is aligned and writable, and the draft does not use it.
            unsafe { self.bulk_one(value, form.as_mut_ptr()) };
        }
    }

    /// Like [`bulk_one_by_one`](Self::bulk_one_by_one), for values that might not fit on the stack.
    #[cold]
    fn bulk_large_one_by_one<T: Transportable>(&mut self, values: &'b [T]) {
        if values.is_empty() {
            return;
        }
        let form = Spent::heap(size_of::<T::InPlace<'b>>());
        for value in values {
            // SAFETY: the buffer has the size of the form and the alignment of any form. It is
            // writable, and the draft does not use it.
            unsafe { self.bulk_one(value, form.base().as_ptr().cast()) };
        }
    }

    /// Writes a flat value to `form`, and appends the bytes of the form to bulk.
    ///
    /// # Safety
    ///
    /// `form` must be aligned, valid for reads and writes, and not overlap the memory of the draft.
    #[inline(always)]
    unsafe fn bulk_one<T: Transportable>(&mut self, value: &'b T, form: *mut T::InPlace<'b>) {
        // Zeroed in place, because moving a `MaybeUninit` would not move its padding.
        // SAFETY: the caller's form is writable.
        unsafe { ptr::write_bytes(form, 0, 1) };
        // SAFETY: the caller's form is aligned and writable, and was just zeroed.
        unsafe { value.write(form, self) };
        // SAFETY: every byte of the form was zeroed and the form was then written by `write`, which
        // leaves no byte uninitialised. Nothing writes to it while the bytes are borrowed.
        let bytes =
            unsafe { slice::from_raw_parts(form.cast::<u8>(), size_of::<T::InPlace<'b>>()) };
        append(&mut self.scratch.bulk, bytes);
    }

    /// Appends a string. Returns the first word of a pointer to it.
    #[inline(always)]
    pub(crate) fn string(&mut self, text: &str) -> u64 {
        let at = self.scratch.text.len().wrapping_add(ORIGIN);
        // One byte more, so that an unallocated segment has no room for an empty string either.
        let room = text.len().wrapping_add(1);
        let segment = &mut self.scratch.text;
        if segment.capacity().wrapping_sub(segment.len()) < room {
            if let Some(at) = self.reserve_string_slow(text, room) {
                return at;
            }
        }
        // SAFETY: there is room for the text.
        unsafe { append_within(&mut self.scratch.text, text.as_bytes()) };
        at as u64
    }

    /// Records that the next pointer does not own its target.
    #[inline(always)]
    pub(crate) fn borrow(&mut self) {
        self.borrows = true;
    }

    /// Records that a value has no registered class.
    #[cold]
    pub(crate) fn unregistered(&mut self, name: String, of: &'static str) {
        let class = name;
        self.refuse(WriteError::Unregistered { class, of });
    }

    /// Records the class of a trait object, if classes are recorded.
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

    /// Records that a value can't be sent.
    #[cold]
    pub(crate) fn refuse(&mut self, why: WriteError) {
        self.refused.get_or_insert(why);
    }

    /// Appends the tag of a slot that has no room for its tag.
    #[inline(always)]
    pub(crate) fn tag(&mut self, tag: bool) {
        let text = &mut self.scratch.text;
        if text.len() == text.capacity() {
            self.tag_slow(tag);
        } else {
            text.push(u8::from(tag));
        }
    }

    /// Writes zeroes from `written` to `end`. The caller must have reserved room up to `end`.
    #[inline(always)]
    fn zero_up_to(&mut self, end: usize) {
        debug_assert!(end <= self.objects.capacity());
        let gap = end.saturating_sub(self.written);
        if gap == 0 {
            return;
        }
        let start = self.objects.base().as_ptr().wrapping_add(self.written);
        // SAFETY: the caller reserved room up to `end`, and the draft owns the buffer.
        unsafe { ptr::write_bytes(start, 0, gap) };
        self.written = end;
    }
}

/// Writes the values of one job, and of the jobs of the same type that follow it.
///
/// # Safety
///
/// `job` must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, and must have been taken off the queue of `draft`.
unsafe fn write_job<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    job: Job<'b>,
) -> Result<(), Full> {
    let mut span = job.span;
    loop {
        // SAFETY: the first job is covered by the caller's promise; `pop_same` guarantees the same
        // for the others.
        unsafe { write_values::<T>(draft, span)? };
        match draft.scratch.jobs.pop_same(write_job::<T> as WriteJob<'_>) {
            Some(next) => span = next,
            None => return Ok(()),
        }
    }
}

/// # Safety
///
/// `span` must be a place that was allocated for values of `T`, or of a type whose instance of this
/// function is the same code. The values must outlive the draft, and everything before the place
/// must have been written.
#[inline(always)]
unsafe fn write_values<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    span: ValueSpan,
) -> Result<(), Full> {
    let ValueSpan { values, count, at } = span;
    let size = size_of::<T::InPlace<'b>>();
    // `allocate` checked that this does not wrap.
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
            // SAFETY: room up to `end` was reserved. The slot is aligned for the form, because both
            // the job's place and the buffer's base are. The base is aligned to 128, which by
            // `assert_form` is the maximum alignment of a form, or to 16, which is enough for any
            // form whose place was allocated (invariant 4).
            unsafe { ptr::write_bytes(slot, 0, 1) };
        }
        // SAFETY: as above; the slot is zeroed unless the form is dense. `write` does not move
        // `objects`, which only `reserve` replaces.
        unsafe { value.write(slot, draft) };
    }
    draft.written = end;
    if draft.full {
        // The field is not reported if the message is written into a buffer of fixed size.
        if draft.growable {
            draft.blame_field::<T>(at, count);
        }
        return Err(Full);
    }
    Ok(())
}
