//! The steps of restoring a message in place: targets are claimed where they are, and queued to be
//! converted to wire form.
//!
//! Relies on, and maintains, the invariants of [`Draft::write_back_walk`].

use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;

use super::blame_field::NO_ROOM;
use super::draft::Draft;
use super::error::Full;
use super::work_queue::{WorkItem, WriteBackFn};
use crate::buffer::{ALIGNMENT, EmptyBuffer};
use crate::model::{InPlace, Transportable};
use crate::wire::align_up;

impl<'b> Draft<'b> {
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
pub(super) unsafe fn rewrite<'b, T: Transportable + 'b>(place: *mut T, draft: &mut Draft<'b>) {
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
