//! Restoring the wire form of a received message in place.
//!
//! A walk over the native objects in the order of the writer. Each target must be at the address at
//! which the writer would put it. Then no target is copied, and each pointer is overwritten with
//! the place that was just compared. The walk stops at the first target that has moved.
//!
//! Invariants of a walk:
//! 1. A work item is for values at the places that were claimed for them. Each byte of the objects
//!    and bulk segments is claimed by one target. Claimed bytes lie below the cursors, which never
//!    pass the ends of the message's segments.
//! 2. The values at a claimed place are native until their work item is done, and in wire form
//!    afterwards. Only work items access them; nothing else follows a pointer.
//! 3. No reference to a value is used after its bytes were overwritten. Bytes are overwritten
//!    through raw pointers from the buffer's base, after every call that was given the reference
//!    has returned.
//!
//! Decision 052 has the reasons.

use std::mem::{self, MaybeUninit, align_of, size_of};
use std::ptr::{self, NonNull};

use super::blame_field::NO_ROOM;
use super::draft::{Draft, RECORD_MIN_BYTES};
use super::error::Full;
use super::scratch::Scratch;
use super::shared::{Identity, Lookup};
use super::text_buffer::TextBuffer;
use super::work_queue::{WorkItem, WriteBackFn};
use super::write_back_state::WriteBackState;
use crate::buffer::{ALIGNMENT, EmptyBuffer};
use crate::impls::option::copy_payload;
use crate::model::{InPlace, Target, Transportable, has_room_for_tag};
use crate::wire::{HEADER_LEN, Header, ORIGIN, align_up, in_memory};

/// The segments of a message that was read and is still in its buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segments {
    base: NonNull<u8>,
    objects_end: usize,
    bulk_start: usize,
    bulk_len: usize,
    text_start: usize,
    text_len: usize,
}

impl Segments {
    /// # Safety
    ///
    /// `base` must be that of a buffer whose header was checked when the message in it was read,
    /// and has not been changed since.
    pub(crate) unsafe fn from_base(base: NonNull<u8>) -> Self {
        // SAFETY: by the caller's promise there is a header, aligned as a buffer is.
        let header = unsafe { base.cast::<Header>().read() };
        let objects_end = in_memory(header.objects_end);
        let bulk_len = in_memory(header.bulk_len);
        // The header was checked when the message was read, so this does not wrap.
        let bulk_start = align_up(objects_end, in_memory(u64::from(header.bulk_align)));
        Self {
            base,
            objects_end,
            bulk_start,
            bulk_len,
            text_start: bulk_start.wrapping_add(bulk_len),
            text_len: in_memory(header.text_len),
        }
    }

    /// Returns the length of the message in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text_start.wrapping_add(self.text_len)
    }

    /// Returns a pointer to the root of type `T`.
    pub(crate) fn root<T>(&self) -> *mut T {
        let at = align_up(HEADER_LEN, align_of::<T>());
        self.base.as_ptr().wrapping_add(at).cast()
    }

    /// Returns space for a copy of the root after the message, if the root is small and the buffer
    /// has room.
    pub(crate) fn kept<T>(&self, capacity: usize) -> Option<*mut T> {
        let at = align_up(self.len(), ALIGNMENT);
        let end = at.checked_add(size_of::<T>())?;
        let fits = end <= capacity && size_of::<T>() <= MAX_ROOT_COPY_BYTES;
        fits.then(|| self.base.as_ptr().wrapping_add(at).cast())
    }
}

/// Maximum size in bytes of a root of which a copy is kept.
const MAX_ROOT_COPY_BYTES: usize = 4096;

/// The action of a walk on the pointers whose places it computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteBackMode {
    /// Only compares every target's address with the expected one.
    Compare,
    /// Overwrites the pointers with places. `changed` says that the program may have changed the
    /// root.
    Commit { changed: bool },
}

impl<'b> Draft<'b> {
    /// Walks over a message that was read. Returns true if everything is at the address that the
    /// writer would choose, and the segments hold nothing else. If so, and `mode` commits, the
    /// message is in wire form again, with its header still in place.
    ///
    /// # Safety
    ///
    /// `of` must be the segments of a message that was read as the type that `T` is with another
    /// lifetime, and nothing else may access the buffer. After a step that commits, the objects
    /// must not be accessed again: all or some of them are in wire form, whatever the result.
    pub(super) unsafe fn write_back_walk<T: Transportable + 'b>(
        &mut self,
        of: &Segments,
        mode: WriteBackMode,
    ) -> bool {
        self.begin_write_back(of, mode);
        let root = of.root::<T>();
        let at = align_up(HEADER_LEN, align_of::<T>());
        self.cursor = at.wrapping_add(size_of::<T>());
        self.scratch.shared.set_root(root.cast::<T::InPlace<'b>>());
        match mode {
            // A value that the program was able to change may have uninitialised padding, so it is
            // rewritten as a whole.
            // SAFETY: the root is at its place and native.
            WriteBackMode::Commit { changed: true } => unsafe { rewrite::<T>(root, self) },
            // SAFETY: as above.
            _ => unsafe { T::write_back(root, self) },
        }
        while !self.back.moved {
            let Some(item) = self.scratch.work_queue.pop() else {
                break;
            };
            let back = item.back;
            // SAFETY: the work item was pushed with the function for its type and was just taken
            // off the queue.
            if unsafe { back(self, item) }.is_err() {
                break;
            }
        }
        let back = &self.back;
        let all = !back.moved
            && self.refused.is_none()
            && self.cursor == back.objects_end
            && self.bulk_cursor == back.bulk_end
            && back.text_cursor == back.text_end;
        if all && self.back.commit {
            self.update_bulk_align(of);
        }
        self.end_write_back();
        all
    }

    /// Updates the alignment of bulk in the header to what its targets need, if bulk would start at
    /// the same offset.
    fn update_bulk_align(&self, of: &Segments) {
        let align = self.bulk_align();
        if align_up(of.objects_end, align) != of.bulk_start {
            return;
        }
        let header = of.base.cast::<Header>().as_ptr();
        let align = u32::try_from(align).unwrap_or(u32::MAX);
        // SAFETY: the header is at the start of the buffer.
        let place = unsafe { &raw mut (*header).bulk_align };
        // SAFETY: the walk has exclusive access to the buffer.
        unsafe { place.write(align) };
    }

    /// Returns true if a root leads to the same targets as the copy of it that was made when it was
    /// read. In that case all further targets are unchanged too.
    ///
    /// The walk beyond the root depends only on the work items that the root queued, the shared
    /// targets that it reached, and the cursors. If these are equal for the copy and the root, the
    /// walk will find every target at its place, as it would have done before the root was changed.
    ///
    /// # Safety
    ///
    /// As for [`write_back_walk`](Self::write_back_walk), and `kept` must be the copy of a root.
    /// Functions of the program are only ever given the root.
    pub(super) unsafe fn is_root_unchanged<T: Transportable + 'b>(
        &mut self,
        of: &Segments,
        kept: *mut T,
    ) -> bool {
        // SAFETY: the caller's promise is passed on; nothing is written.
        let was = unsafe { self.root_claims(of, kept) };
        mem::swap(
            &mut self.scratch.work_queue,
            &mut self.scratch.previous_work_queue,
        );
        mem::swap(&mut self.scratch.shared, &mut self.scratch.previous_shared);
        // SAFETY: as above.
        let is = unsafe { self.root_claims(of, of.root::<T>()) };
        let same_claims = was.is_some() && was == is;
        let Scratch {
            work_queue,
            previous_work_queue,
            shared,
            previous_shared,
            ..
        } = &mut self.scratch;
        let same = same_claims
            && shared.is_the_same(previous_shared)
            && work_queue.are_the_same(previous_work_queue);
        self.end_write_back();
        same
    }

    /// Queues the targets of a root. Returns the cursors after that, or `None` if a target has
    /// moved.
    ///
    /// # Safety
    ///
    /// As for [`write_back_walk`](Self::write_back_walk); `root` may be a copy.
    unsafe fn root_claims<T: Transportable + 'b>(
        &mut self,
        of: &Segments,
        root: *mut T,
    ) -> Option<[usize; 3]> {
        self.begin_write_back(of, WriteBackMode::Compare);
        self.back.walks_copy = root != of.root::<T>();
        self.scratch
            .shared
            .set_root(of.root::<T>().cast::<T::InPlace<'b>>());
        self.cursor = align_up(HEADER_LEN, align_of::<T>()).wrapping_add(size_of::<T>());
        // SAFETY: by the caller's promise there is a root.
        unsafe { T::write_back(root, self) };
        let same_claims = !self.back.moved && self.refused.is_none();
        same_claims.then_some([self.cursor, self.bulk_cursor, self.back.text_cursor])
    }

    /// Sets the cursors to the beginning of the message, and removes all room from the draft.
    /// Everything to be written is then looked for in the message.
    fn begin_write_back(&mut self, of: &Segments, mode: WriteBackMode) {
        self.growable = false;
        self.begin(0, RECORD_MIN_BYTES);
        self.limit_from_origin = 0;
        // Makes the draft record all shared targets.
        self.borrows = true;
        self.refused = None;
        let base = of.base.as_ptr();
        let saved_scratch = if self.back.active {
            mem::replace(
                &mut self.back.saved_scratch,
                (TextBuffer::new(), Vec::new()),
            )
        } else {
            (
                mem::replace(&mut self.scratch.text, TextBuffer::closed()),
                mem::take(&mut self.scratch.bulk),
            )
        };
        self.back = WriteBackState {
            active: true,
            commit: mode != WriteBackMode::Compare,
            moved: false,
            exclusive: false,
            walks_copy: false,
            base,
            objects_end: of.objects_end,
            bulk: base.wrapping_add(of.bulk_start).wrapping_sub(ORIGIN),
            bulk_end: of.bulk_len.wrapping_add(ORIGIN),
            text: base.wrapping_add(of.text_start).wrapping_sub(ORIGIN),
            text_cursor: ORIGIN,
            text_end: of.text_len.wrapping_add(ORIGIN),
            saved_scratch,
        };
    }

    /// Clears the state of the walk, and returns the draft to normal writing.
    #[cold]
    pub(super) fn end_write_back(&mut self) {
        let (text, bulk) = mem::replace(
            &mut self.back.saved_scratch,
            (TextBuffer::new(), Vec::new()),
        );
        self.back.active = false;
        self.back.walks_copy = false;
        self.scratch.work_queue.clear();
        self.scratch.previous_work_queue.clear();
        self.scratch.previous_shared.clear();
        self.scratch.text = text;
        self.scratch.bulk = bulk;
        self.scratch.clear();
        self.refused = None;
    }

    /// Returns the index of the segment that contains `address`, if any, and whether it is before
    /// that segment's cursor.
    #[inline(always)]
    pub(super) fn segment_of(&self, address: usize) -> Option<(usize, bool)> {
        let back = &self.back;
        let base = back.base.addr();
        if address < base {
            return None;
        }
        if address < base.wrapping_add(back.objects_end) {
            return Some((0, address < base.wrapping_add(self.cursor)));
        }
        let bulk = back.bulk.addr();
        if address < bulk.wrapping_add(back.bulk_end) {
            return Some((1, address < bulk.wrapping_add(self.bulk_cursor)));
        }
        let text = back.text.addr();
        let met = address < text.wrapping_add(back.text_cursor);
        (address < text.wrapping_add(back.text_end)).then_some((2, met))
    }

    /// Returns true if the walk overwrites pointers with places.
    #[inline(always)]
    pub(crate) fn commits(&self) -> bool {
        self.back.commit
    }

    /// Records that the next slice to be written is one that the program may have changed.
    #[inline(always)]
    pub(crate) fn exclusive(&mut self) {
        self.back.exclusive = true;
    }

    /// Returns true if the value is a bytewise copy of one that the program may have taken. No
    /// function of the program may be given such a value, because its type may forbid copies. So
    /// the walk over the copy is stopped.
    #[inline(always)]
    pub(crate) fn stop_at_copy(&mut self) -> bool {
        if self.back.walks_copy {
            let _ = self.has_moved();
        }
        self.back.walks_copy
    }

    /// Records that a target is not at its expected address.
    #[cold]
    pub(super) fn has_moved(&mut self) -> u64 {
        self.back.moved = true;
        NO_ROOM
    }

    /// Claims values where they are. Returns their place.
    #[inline(always)]
    pub(crate) fn claim_target<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        if <T::InPlace<'b> as InPlace>::SHAPE.flat {
            self.claim_bulk(values, count, false)
        } else {
            self.claim_objects(values, count)
        }
    }

    /// Like [`claim_target`](Self::claim_target), for flat values that the program may have
    /// changed.
    #[inline(always)]
    pub(crate) fn claim_exclusive<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        self.claim_bulk(values, count, true)
    }

    /// Returns true if the form of `T` has the size and alignment of `T`, so that values can be
    /// restored in place.
    const fn keeps_its_size<T: Transportable + 'b>() -> bool {
        size_of::<T>() == size_of::<T::InPlace<'b>>()
            && align_of::<T>() == align_of::<T::InPlace<'b>>()
            && align_of::<T>() <= ALIGNMENT
    }

    /// Zeroes the gap between two targets, which may hold a target that the program has dropped.
    ///
    /// # Safety
    ///
    /// The `gap` bytes before `end` must lie in the message, after all targets that were claimed
    /// and before all that will be claimed.
    #[inline(always)]
    unsafe fn erase_gap(&self, end: *mut u8, gap: usize) {
        if gap > 0 && self.back.commit {
            // SAFETY: by the caller's promise no claimed target contains these bytes, and only
            // claimed targets are accessed after this.
            unsafe { ptr::write_bytes(end.wrapping_sub(gap), 0, gap) };
        }
    }

    /// Claims values of the objects segment, and queues their work item after all earlier ones.
    #[inline(always)]
    pub(super) fn claim_objects<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        let at = align_up(self.cursor, align_of::<T>());
        let start = self.back.base.wrapping_add(at);
        // The values are in memory, so this does not wrap.
        let size = count.wrapping_mul(size_of::<T>());
        let end = at.wrapping_add(size);
        if is_misplaced(values.addr(), start.addr(), size)
            || end > self.back.objects_end
            || !Self::keeps_its_size::<T>()
        {
            return self.has_moved();
        }
        let gap = at.wrapping_sub(self.cursor);
        // SAFETY: the gap lies between two targets of the objects segment.
        unsafe { self.erase_gap(start, gap) };
        self.cursor = end;
        if size > 0 {
            self.scratch.work_queue.push(WorkItem {
                back: write_back_values::<T> as WriteBackFn<Self>,
                start,
                end: start.wrapping_add(size),
            });
        }
        at as u64
    }

    /// Claims values of the bulk segment. If they are not in wire form already, queues a work item
    /// for them too.
    #[inline(always)]
    pub(super) fn claim_bulk<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
        exclusive: bool,
    ) -> u64 {
        if align_of::<T>() > 1 {
            self.bulk_align = self.bulk_align.max(align_of::<T>());
        }
        let at = align_up(self.bulk_cursor, align_of::<T>());
        let start = self.back.bulk.wrapping_add(at);
        let size = count.wrapping_mul(size_of::<T>());
        let end = at.wrapping_add(size);
        if is_misplaced(values.addr(), start.addr(), size)
            || end > self.back.bulk_end
            || !Self::keeps_its_size::<T>()
        {
            return self.has_moved();
        }
        let gap = at.wrapping_sub(self.bulk_cursor);
        // SAFETY: the gap lies between two targets of the bulk segment.
        unsafe { self.erase_gap(start, gap) };
        self.bulk_cursor = end;
        if !T::WIRE_IS_MEMORY && size > 0 {
            let back = if exclusive {
                rewrite_values::<T> as WriteBackFn<Self>
            } else {
                write_back_values::<T>
            };
            self.scratch.work_queue.push(WorkItem {
                back,
                start,
                end: start.wrapping_add(size),
            });
        }
        at as u64
    }

    /// Overwrites a value with its wire form.
    ///
    /// # Safety
    ///
    /// `place` must hold a value, in the buffer of the walk or in a temporary.
    #[inline(always)]
    pub(crate) unsafe fn rewrite<T: Transportable + 'b>(&mut self, place: *mut T) {
        // SAFETY: the caller's promise is passed on.
        unsafe { rewrite(place, self) }
    }

    /// Claims a string where it is. Returns its place.
    #[inline(always)]
    pub(crate) fn claim_string(&mut self, text: &str) -> u64 {
        let at = self.back.text_cursor;
        let place = self.back.text.wrapping_add(at).addr();
        let left = self.back.text_end.wrapping_sub(at);
        if is_misplaced(text.as_ptr().addr(), place, text.len()) || left < text.len() {
            return self.has_moved();
        }
        self.back.text_cursor = at.wrapping_add(text.len());
        at as u64
    }

    /// Turns an `Option` back into wire form.
    ///
    /// # Safety
    ///
    /// As for [`Transportable::write_back`].
    #[inline(always)]
    pub(crate) unsafe fn write_tagged_back<T: Transportable + 'b>(
        &mut self,
        place: *mut Option<T>,
    ) {
        if T::OPTION_IS_MEMORY {
            return;
        }
        let small = T::WIRE_IS_MEMORY && size_of::<T>() <= size_of::<[u64; 2]>();
        let same = size_of::<Option<T>>() == size_of::<Option<T::InPlace<'b>>>();
        let is_bounded = <T::InPlace<'b> as InPlace>::OPTION_SHAPE.most.is_some();
        if is_bounded || !(<T::InPlace<'b> as InPlace>::SHAPE.plain && small && same) {
            // SAFETY: the caller's promise is passed on.
            unsafe { self.rewrite(place) };
            return;
        }
        // Copied part by part, because a wide load of what several stores have written would stall
        // until they complete.
        let mut payload = MaybeUninit::<T>::uninit();
        // SAFETY: by the caller's promise there is a value. The borrow ends before the value is
        // overwritten.
        let value = unsafe { &*place };
        let tag = value.is_some();
        // SAFETY: the temporary is writable and aligned, and any bytes are a value of the type.
        unsafe { copy_payload(value, payload.as_mut_ptr()) };
        if !has_room_for_tag::<T>() {
            self.overwrite_tag(tag);
        }
        if !self.commits() {
            return;
        }
        // SAFETY: the caller's place is writable.
        unsafe { ptr::write_bytes(place, 0, 1) };
        if has_room_for_tag::<T>() {
            let at = place.cast::<u8>().wrapping_add(size_of::<T>());
            // SAFETY: an `Option` with room for the tag is larger than its payload.
            unsafe { at.write(u8::from(tag)) };
        }
        // SAFETY: the place is at least as large and as aligned as the payload.
        unsafe { ptr::copy_nonoverlapping(payload.as_ptr(), place.cast::<T>(), 1) };
    }

    /// Writes a tag to its place in the text segment.
    #[inline(always)]
    pub(crate) fn overwrite_tag(&mut self, tag: bool) {
        let at = self.back.text_cursor;
        if at >= self.back.text_end {
            let _ = self.has_moved();
            return;
        }
        self.back.text_cursor = at.wrapping_add(1);
        if self.back.commit {
            // SAFETY: the byte lies inside the text segment, whose contents are not accessed any
            // more; only addresses are compared.
            unsafe { self.back.text.wrapping_add(at).write(u8::from(tag)) };
        }
    }

    /// Claims a shared target of a message that is restored in place, unless it was met before.
    /// Returns the words of a pointer to it.
    #[inline(always)]
    pub(crate) fn claim_shared<T: Target + ?Sized>(&mut self, target: &'b T) -> [u64; 2] {
        let identity = Identity::new(target);
        let size = size_of_val(target);
        let met = if size == 0 {
            Lookup::Elsewhere
        } else {
            self.scratch.shared.look_up(identity, size)
        };
        let number = match met {
            Lookup::First => None,
            Lookup::Known(number) => Some(number),
            Lookup::Elsewhere => self.number_in_place(identity, size),
        };
        match number {
            Some(number) => identity.further_pointer(number),
            None => target.claim_back(self),
        }
    }

    /// Returns the number of a target of such a message that was met before. Otherwise assigns it
    /// the next number and returns `None`.
    ///
    /// An address at or after a segment's cursor has not been met. An address before the cursor
    /// either has been met or belongs to a target that has moved. Several zero-sized targets may
    /// have the same address.
    #[inline(never)]
    fn number_in_place(&mut self, identity: Identity, size: usize) -> Option<u32> {
        let place = if size == 0 {
            None
        } else {
            self.segment_of(identity.address)
        };
        let shared = &mut self.scratch.shared;
        match place {
            None => shared.number(identity),
            Some(_) if shared.is_root(identity) => Some(0),
            Some((segment, true)) => shared.number_in_runs(segment, identity, size),
            Some((segment, false)) => {
                shared.add_in_place(segment, identity, size);
                None
            }
        }
    }
}

/// Returns true if `size` bytes at `address` are not at the expected `place`. If `size` is 0, any
/// address is accepted. Written without a branch, because it is unpredictable whether `size` is 0.
#[inline(always)]
fn is_misplaced(address: usize, place: usize, size: usize) -> bool {
    (size > 0) & (address != place)
}

/// Executes a work item, and the work items of the same type that follow it.
///
/// # Safety
///
/// `item` must have been pushed with `own`, for `T` or a type for which `own` is the same code, by
/// a walk that is still in progress, and must have been taken off the queue of `draft`. `back` must
/// convert native values of `T` to wire form.
#[inline(always)]
unsafe fn run_work_items<'b, T>(
    draft: &mut Draft<'b>,
    mut item: WorkItem<Draft<'b>>,
    own: WriteBackFn<Draft<'b>>,
    back: unsafe fn(*mut T, &mut Draft<'b>),
) -> Result<(), Full> {
    loop {
        let end = item.end.cast::<T>();
        let mut place = item.start.cast::<T>();
        while place != end {
            // SAFETY: the work item is for the values from its start to its end, which are still
            // native (invariant 2).
            unsafe { back(place, draft) };
            place = place.wrapping_add(1);
        }
        if draft.back.moved {
            return Err(Full);
        }
        match draft.scratch.work_queue.pop_same(own) {
            Some(next) => item = next,
            None => return Ok(()),
        }
    }
}

/// Converts the values of one work item to wire form, and those of the work items of the same type
/// that follow it.
///
/// # Safety
///
/// `item` must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, by a walk that is still in progress, and must have been taken off the queue of `draft`.
unsafe fn write_back_values<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    item: WorkItem<Draft<'b>>,
) -> Result<(), Full> {
    // SAFETY: the caller's promise is passed on.
    unsafe { run_work_items(draft, item, write_back_values::<T>, T::write_back) }
}

/// Like [`write_back_values`], for values that the program may have changed.
///
/// # Safety
///
/// As for [`write_back_values`].
unsafe fn rewrite_values<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    item: WorkItem<Draft<'b>>,
) -> Result<(), Full> {
    // SAFETY: the caller's promise is passed on.
    unsafe { run_work_items(draft, item, rewrite_values::<T>, rewrite::<T>) }
}

/// Maximum size in bytes of a form that is put on the stack.
pub(super) const LARGEST_ON_STACK: usize = 4096;

/// Writes the wire form of a value to temporary memory, and then overwrites each byte of the value
/// with it.
///
/// # Safety
///
/// `place` must hold a value, in the buffer of the walk or in a temporary.
#[inline(always)]
unsafe fn rewrite<'b, T: Transportable + 'b>(place: *mut T, draft: &mut Draft<'b>) {
    if !Draft::<'b>::keeps_its_size::<T>() {
        draft.has_moved();
        return;
    }
    if size_of::<T::InPlace<'b>>() > LARGEST_ON_STACK {
        let beside = EmptyBuffer::heap(size_of::<T>());
        // SAFETY: the buffer has the size of the form and the alignment of any form.
        unsafe { rewrite_by(place, beside.base().as_ptr().cast(), draft) };
        return;
    }
    let mut form = MaybeUninit::<T::InPlace<'b>>::uninit();
    // SAFETY: the temporary is aligned and writable.
    unsafe { rewrite_by(place, form.as_mut_ptr(), draft) };
}

/// # Safety
///
/// As for [`rewrite`], which has checked that the form has the type's size. `form` must be aligned
/// and writable, and must not overlap the value.
#[inline(always)]
unsafe fn rewrite_by<'b, T: Transportable + 'b>(
    place: *mut T,
    form: *mut T::InPlace<'b>,
    draft: &mut Draft<'b>,
) {
    if !<T::InPlace<'b> as InPlace>::SHAPE.dense {
        // SAFETY: the caller's form is writable.
        unsafe { ptr::write_bytes(form, 0, 1) };
    }
    // SAFETY: by the caller's promise there is a value, and nothing overwrites it during the call:
    // targets are only claimed here, and written in their own work items.
    let value: &'b T = unsafe { &*place };
    // SAFETY: the form is aligned, writable, and zeroed unless it is dense.
    unsafe { value.write(form, draft) };
    if draft.back.commit {
        // SAFETY: both have the size of the form and do not overlap. Neither the reference to the
        // value nor anything that the draft derived from it is used again, because the draft keeps
        // only the places of targets.
        unsafe {
            ptr::copy_nonoverlapping(form.cast_const().cast::<u8>(), place.cast(), size_of::<T>())
        };
    }
}

/// Zeroes the slot of a field or value that is not sent.
///
/// # Safety
///
/// `place` must be valid for writes.
#[inline(always)]
pub(crate) unsafe fn erase<T>(place: *mut T, draft: &Draft<'_>) {
    if draft.commits() {
        // SAFETY: the caller's promise.
        unsafe { ptr::write_bytes(place, 0, 1) };
    }
}
