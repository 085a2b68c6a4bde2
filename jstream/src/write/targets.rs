//! Allocation of places for the root and for the targets of pointers, and writing them.
//!
//! Relies on, and maintains, the invariants of a [`Draft`].

use std::mem::{self, MaybeUninit, align_of, size_of};
use std::ptr;
use std::slice;

use super::append::{PADDING, append, append_padded};
use super::blame_field::{NO_ROOM, find_oversized_field};
use super::draft::{Draft, GATHER_ALWAYS_BELOW_BYTES, SideSegment};
use super::error::Full;
use super::jobs::{Job, ValueSpan, WriteJob};
use super::scratch::Piece;
use super::shared::Identity;
use super::write_back::LARGEST_ON_STACK;
use crate::buffer::EmptyBuffer;
use crate::impls::option::copy_payload;
use crate::model::{InPlace, Target, Transportable, has_room_for_tag};
use crate::read::{assert_form, choose, short};
use crate::schema::{Describe, Schema};
use crate::wire::{HEADER_LEN, align_up, root_end};

impl Identity {
    #[inline(always)]
    pub(super) fn new<'b, T: Target + ?Sized + 'b>(target: &T) -> Self {
        Self {
            address: std::ptr::from_ref(target).addr(),
            meta: target.meta(),
            key: typeid::of::<T::InPlace<'b>>(),
        }
    }
}

impl<'b> Draft<'b> {
    /// Writes the whole graph, but not the header.
    #[inline]
    pub(super) fn write_graph<T: Transportable>(&mut self, root: &'b T) -> Result<(), Full> {
        let ValueSpan { values, at, end } = self.begin_root(root)?;
        self.begin_levels(end);
        // SAFETY: the place was just allocated for one value, which is borrowed for `'b`, and all
        // before it was written.
        unsafe { write_job::<T>(self, values, at, end)? };
        self.write_targets()?;
        // Segments that had enough capacity were not compared with the limit while they grew.
        let longest = self.text_end().max(self.bulk_cursor);
        if longest > self.limit_from_origin {
            Err(Full)
        } else {
            Ok(())
        }
    }

    /// Writes the root. Its targets are queued.
    #[inline(always)]
    pub(super) fn write_root<T: Transportable>(&mut self, root: &'b T) -> Result<(), Full> {
        let span = self.begin_root(root)?;
        self.begin_levels(span.end);
        // SAFETY: as in `write_graph`, and `begin_root` has made room for the value.
        unsafe { write_if_room::<T>(self, span) }
    }

    /// Writes a root whose form is [`text_only`](crate::model::Shape::text_only) into a buffer of
    /// the caller. Its text is written behind it as long as there is room.
    #[inline(always)]
    pub(super) fn write_text_root<T: Transportable>(&mut self, root: &'b T) -> Result<(), Full> {
        debug_assert!(<T::InPlace<'_> as InPlace>::SHAPE.text_only);
        debug_assert!(!self.growable);
        let span = self.begin_root(root)?;
        let place = self.base.as_ptr().wrapping_add(span.end);
        let room = self.capacity.wrapping_sub(span.end);
        // SAFETY: the bytes behind the root belong to the buffer, which is not replaced and has no
        // other objects (invariant 1). The draft is cleared before the borrow of the buffer ends.
        unsafe { self.scratch.text.begin_at(place, room) };
        // SAFETY: as in `write_root`.
        unsafe { write_if_room::<T>(self, span) }
    }

    /// Begins to count levels below the root, which ends at `root_end`, and what it allocates.
    #[inline(always)]
    fn begin_levels(&mut self, root_end: usize) {
        self.root_end = root_end;
        self.scratch.jobs.begin(self.levels);
    }

    /// Allocates the place of the root, makes room for it, and zeroes everything between the header
    /// and it. Fails if there is no room.
    #[inline(always)]
    fn begin_root<T: Transportable>(&mut self, root: &'b T) -> Result<ValueSpan, Full> {
        const { assert_form::<T::InPlace<'b>>() };
        debug_assert_eq!(self.written, 0);
        if self.is_misaligned::<T::InPlace<'b>>() {
            return Err(Full);
        }
        let place = ptr::from_ref(root).cast::<T::InPlace<'b>>();
        self.scratch.shared.set_root(place);
        let at = align_up(HEADER_LEN, align_of::<T::InPlace<'b>>());
        let end = root_end::<T::InPlace<'b>>();
        self.cursor = end;
        if end > self.limit {
            self.full = true;
            return Err(Full);
        }
        self.reserve(end)?;
        self.written = HEADER_LEN;
        self.zero_up_to(at);
        Ok(ValueSpan {
            values: ptr::from_ref(root).cast(),
            at,
            end,
        })
    }

    /// Writes all values that were queued. If it returns `Ok`, the draft is not `full`, because
    /// each job checks that after its values.
    #[inline]
    pub(super) fn write_targets(&mut self) -> Result<(), Full> {
        while let Some(Job { write, span }) = self.scratch.jobs.pop() {
            let ValueSpan { values, at, end } = span;
            // SAFETY: the job was pushed with the function for its type and was just taken off the
            // queue.
            unsafe { write(self, values, at, end)? };
        }
        self.check_limits()?;
        if self.written < self.cursor {
            // An empty slice was allocated behind the last object, and is aligned to more.
            self.reserve(self.cursor)?;
            self.zero_up_to(self.cursor);
        }
        Ok(())
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
        let end = match size.map(|size| at.wrapping_add(size)) {
            Some(end) if end <= self.limit => end,
            _ => return self.allocate_slow(values, count),
        };
        self.cursor = end;
        if <T::InPlace<'b> as InPlace>::SHAPE.verified {
            self.count_check(
                (
                    typeid::of::<T::InPlace<'b>>(),
                    <T::InPlace<'b> as InPlace>::SHAPE.flat,
                ),
                at,
                end,
            );
        }
        if count > 0 {
            self.scratch.jobs.push(Job {
                write: write_job::<T> as WriteJob<Self>,
                span: ValueSpan {
                    values: values.cast(),
                    at,
                    end,
                },
            });
        }
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
        if size_of::<T::InPlace<'b>>() == 0 {
            self.count_zero_sized(values.len());
        }
        if <T::InPlace<'b> as InPlace>::SHAPE.verified {
            self.count_check(
                (
                    typeid::of::<T::InPlace<'b>>(),
                    <T::InPlace<'b> as InPlace>::SHAPE.flat,
                ),
                at,
                at.wrapping_add(len),
            );
        }
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
            self.needs_clearing = true;
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
        let bulk = &mut self.scratch.bulk;
        bulk.reserve(values.len().saturating_mul(size_of::<T::InPlace<'b>>()));
        let end = bulk.as_ptr().addr().wrapping_add(bulk.len());
        if align_up(end, align_of::<T::InPlace<'b>>()) == end {
            self.bulk_in_place(values);
        } else if size_of::<T::InPlace<'b>>() > LARGEST_ON_STACK {
            self.bulk_large_one_by_one(values);
        } else {
            self.bulk_small_one_by_one(values);
        }
    }

    /// Like [`bulk_one_by_one`](Self::bulk_one_by_one), for a segment that has room for the values
    /// and whose end is aligned for their form.
    #[inline(always)]
    fn bulk_in_place<T: Transportable>(&mut self, values: &'b [T]) {
        // A form that is flat does not add anything to a segment. The segment is taken out of the
        // draft nevertheless, so that its memory stays where it is whatever `write` does.
        let mut bulk = mem::take(&mut self.scratch.bulk);
        let free = bulk.spare_capacity_mut();
        let slots = free.as_mut_ptr().cast::<T::InPlace<'b>>();
        let len = values.len().saturating_mul(size_of::<T::InPlace<'b>>());
        if len > free.len() || align_up(slots.addr(), align_of::<T::InPlace<'b>>()) != slots.addr()
        {
            unreachable!("the segment has room for the values")
        }
        if !<T::InPlace<'b> as InPlace>::SHAPE.dense {
            // SAFETY: there is room for as many forms as there are values.
            unsafe { ptr::write_bytes(slots, 0, values.len()) };
        }
        for (i, value) in values.iter().enumerate() {
            // SAFETY: the slot is one of those for which there is room. It is aligned, and zeroed
            // unless the form is dense.
            unsafe { value.write(slots.wrapping_add(i), self) };
        }
        let end = bulk.len().wrapping_add(len);
        // SAFETY: there is room for the slots. Each byte of them was zeroed, and `write` leaves no
        // byte uninitialised, or it was written, if the form is dense.
        unsafe { bulk.set_len(end) };
        self.scratch.bulk = bulk;
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
        let form = EmptyBuffer::heap(size_of::<T::InPlace<'b>>());
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

    /// Called if the objects segment has no room. Claims the values in the message if it is being
    /// restored in place; otherwise marks the draft as full.
    #[cold]
    fn allocate_slow<T: Transportable + 'b>(&mut self, values: *const T, count: usize) -> u64 {
        if self.back.active {
            return self.claim_objects(values, count);
        }
        self.full = true;
        NO_ROOM
    }

    /// Like [`allocate_slow`](Self::allocate_slow), for flat values.
    #[cold]
    fn place_bulk_slow<T: Transportable + 'b>(&mut self, values: *const T, count: usize) -> u64 {
        if self.back.active {
            let exclusive = self.back.take_exclusive();
            return self.claim_bulk(values, count, exclusive);
        }
        self.full = true;
        NO_ROOM
    }

    /// Makes room for flat values that are gathered. If that is impossible or unnecessary, returns
    /// the place to be written for a pointer to them.
    #[cold]
    fn reserve_bulk_slow<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
        room: usize,
    ) -> Option<u64> {
        if self.back.active {
            return Some(self.place_bulk_slow(values, count));
        }
        (!self.make_room(room, SideSegment::Bulk)).then_some(NO_ROOM)
    }

    /// Records the field of the values just written whose target did not fit.
    #[cold]
    fn blame_field<T: Transportable + 'b>(&mut self, at: usize, end: usize) {
        let size = size_of::<T::InPlace<'b>>();
        let count = end.wrapping_sub(at).checked_div(size).unwrap_or(1);
        let name = std::any::type_name::<T>();
        self.blame_field_of(name, T::InPlace::<'b>::describe, size, at, count);
    }

    /// Like [`blame_field`](Self::blame_field), for values whose form `describe` describes and has
    /// `size` bytes.
    fn blame_field_of(
        &mut self,
        name: &str,
        describe: Describe,
        size: usize,
        at: usize,
        count: usize,
    ) {
        let (schema, root) = Schema::described(describe);
        let start = self.base.as_ptr().wrapping_add(at);
        let path = (0..count).find_map(|i| {
            let value = start.wrapping_add(i.wrapping_mul(size));
            // SAFETY: the values, including their padding, were written there (invariant 1).
            let bytes = unsafe { slice::from_raw_parts(value, size) };
            find_oversized_field(&schema, root, bytes)
        });
        self.oversized_field = path.map(|path| short(name) + &path);
    }

    /// Writes a shared target unless it was met before. Returns the words of a pointer to it.
    ///
    /// `only` says that no other pointer owns the target. The target is then looked up only if it
    /// may also be borrowed elsewhere in the message.
    #[inline(always)]
    pub(crate) fn shared<T: Target + ?Sized>(&mut self, target: &'b T, only: bool) -> [u64; 2] {
        self.write_shared(target, only, false)
    }

    /// Like [`shared`](Self::shared), for a pointer in a `Cell`.
    #[inline(always)]
    pub(crate) fn shared_in_cell<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        self.write_shared(target, false, true)
    }

    #[inline(always)]
    fn write_shared<T: Target + ?Sized>(
        &mut self,
        target: &'b T,
        only: bool,
        in_cell: bool,
    ) -> [u64; 2] {
        self.needs_clearing = true;
        self.skipped |= only && !self.borrows;
        if !only || self.borrows {
            if self.back.active {
                return self.shared_slow(target);
            }
            let identity = Identity::new(target);
            if let Some(number) = self.scratch.shared.number(identity) {
                if !in_cell {
                    self.count_further(number);
                }
                return identity.further_pointer(number);
            }
        } else {
            let shared = &mut self.scratch.shared;
            shared.count = shared.count.wrapping_add(1);
        }
        let start = self.cursor;
        let words = target.write_target(self);
        if self.cursor != start || self.tracks_paths() {
            self.add_shared_objects(start, in_cell);
        }
        words
    }

    /// Like [`shared`](Self::shared), for a message that is restored in place.
    #[cold]
    fn shared_slow<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        self.claim_shared(target)
    }

    /// Writes an `Option`.
    ///
    /// # Safety
    ///
    /// `slot` must be aligned, valid for writes, and zeroed unless the option's shape is dense.
    #[inline(always)]
    pub(crate) unsafe fn write_tagged<T: Transportable>(
        &mut self,
        value: &'b Option<T>,
        slot: *mut Option<T::InPlace<'b>>,
    ) {
        if T::OPTION_IS_MEMORY {
            let value = ptr::from_ref(value);
            // SAFETY: the option's memory is its wire form, and has the layout of the slot.
            unsafe { ptr::copy_nonoverlapping(value, slot.cast(), 1) };
            return;
        }
        if let Some(none) = <T::InPlace<'b> as InPlace>::OPTION_SHAPE.most {
            match value {
                // SAFETY: the slot has the size of the payload, whose form is one byte.
                Some(value) => unsafe { value.write(slot.cast::<T::InPlace<'b>>(), self) },
                // SAFETY: the slot is one byte.
                None => unsafe { slot.cast::<u8>().write(none) },
            }
            return;
        }
        if has_room_for_tag::<T::InPlace<'b>>() {
            let tag = slot.cast::<u8>().wrapping_add(size_of::<T::InPlace<'b>>());
            // SAFETY: the slot is larger than the payload, so this byte lies inside it.
            unsafe { tag.write(u8::from(value.is_some())) };
        } else {
            self.tag(value.is_some());
        }
        if <T::InPlace<'b> as InPlace>::SHAPE.plain
            && T::WIRE_IS_MEMORY
            && size_of::<T>() <= size_of::<[u64; 2]>()
        {
            // SAFETY: the caller's promise is passed on. Any bytes are a value of the form, which
            // has the type's layout, and therefore of the type.
            unsafe { copy_payload(value, slot.cast()) };
            return;
        }
        if T::WIRE_IS_MEMORY
            && size_of::<Option<T>>() == size_of::<T>()
            && size_of::<T>() <= size_of::<[u64; 2]>()
        {
            // The payload fills the option, so it is at its start.
            let payload = ptr::from_ref(value).cast::<T>().cast_mut();
            let mut zeroes = MaybeUninit::<T>::zeroed();
            let from = choose(value.is_some(), payload, zeroes.as_mut_ptr());
            // SAFETY: `from` points to a payload, whose bytes are its wire form, or to zeroes. The
            // caller's slot has at least the size of the form, which has the layout of the payload.
            unsafe { ptr::copy_nonoverlapping(from.cast_const(), slot.cast::<T>(), 1) };
            return;
        }
        if let Some(value) = value {
            // SAFETY: the slot is zeroed, and at least as large and as aligned as the payload.
            unsafe { value.write(slot.cast::<T::InPlace<'b>>(), self) };
        }
    }
}

/// Writes the values of one job, and of the jobs of the same type that follow it.
///
/// # Safety
///
/// A job for these values must have been pushed for `T`, or for a type whose instance of this
/// function is the same code, and must have been taken off the queue of `draft`; or this is the
/// root, whose place was just allocated. Not inlined into the function that writes a graph, because
/// the queue has a pointer to it anyway.
#[inline(never)]
unsafe fn write_job<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    values: *const u8,
    at: usize,
    end: usize,
) -> Result<(), Full> {
    let mut span = ValueSpan { values, at, end };
    loop {
        // SAFETY: the first job is covered by the caller's promise; `pop_same` guarantees the same
        // for the others.
        unsafe { write_values::<T>(draft, span)? };
        match draft
            .scratch
            .jobs
            .pop_same(write_job::<T> as WriteJob<Draft<'b>>)
        {
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
    draft.reserve(span.end)?;
    draft.zero_up_to(span.at);
    // SAFETY: the caller's promise is passed on, and room was just reserved.
    unsafe { write_if_room::<T>(draft, span) }
}

/// # Safety
///
/// As for [`write_values`]. The buffer must have room up to the end of the place, and everything
/// before the place must have been written, including the gap before it.
#[inline(always)]
unsafe fn write_if_room<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    span: ValueSpan,
) -> Result<(), Full> {
    let ValueSpan { values, at, end } = span;
    let size = size_of::<T::InPlace<'b>>();
    let mut value = values.cast::<T>();
    let mut place = at;
    // Of values whose form has no size, nothing is written.
    while place < end {
        let slot = draft.base.as_ptr().wrapping_add(place);
        let slot = slot.cast::<T::InPlace<'b>>();
        if !<T::InPlace<'b> as InPlace>::SHAPE.dense {
            // SAFETY: there is room up to `end`. The slot is aligned for the form, because both
            // the job's place and the buffer's base are. The base is aligned to 128, which by
            // `assert_form` is the maximum alignment of a form, or to 16, which is enough for any
            // form whose place was allocated (invariant 4).
            unsafe { ptr::write_bytes(slot, 0, 1) };
        }
        // SAFETY: the job is for as many values as its place has room for, and they live for `'b`
        // (invariant 3).
        let of: &'b T = unsafe { &*value };
        // SAFETY: as above; the slot is zeroed unless the form is dense. `write` does not replace
        // the buffer, which only `reserve` does.
        unsafe { of.write(slot, draft) };
        value = value.wrapping_add(1);
        place = place.wrapping_add(size);
    }
    draft.written = end;
    if draft.full {
        // The field is not reported if the message is written into a buffer of fixed size.
        if draft.growable && draft.refused.is_none() {
            draft.blame_field::<T>(at, end);
        }
        return Err(Full);
    }
    Ok(())
}
