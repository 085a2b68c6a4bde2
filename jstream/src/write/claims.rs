//! The steps of a walk back: targets are claimed where they lie, and turned back when their turn comes.
//!
//! Relies on, and keeps, the invariants of [`back`](super::back).

use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;

use super::blame::NO_ROOM;
use super::draft::{Draft, Full};
use super::turns::{Turn, TurnBack};
use crate::buffer::{ALIGNMENT, Spent};
use crate::model::{InPlace, Transportable};
use crate::wire::align_up;

impl<'b> Draft<'b> {
    /// Notes that something is not where it should be.
    #[cold]
    pub(super) fn has_moved(&mut self) -> u64 {
        self.back.moved = true;
        NO_ROOM
    }

    /// Claims values where they lie, and returns their place.
    #[inline(always)]
    pub(crate) fn target_back<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        if <T::InPlace<'b> as InPlace>::SHAPE.flat {
            self.bulk_back(values, count, false)
        } else {
            self.objects_back(values, count)
        }
    }

    /// As [`target_back`](Self::target_back), of flat values that the program may have changed.
    #[inline(always)]
    pub(crate) fn exclusive_back<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        self.bulk_back(values, count, true)
    }

    /// Whether values of `T` can be turned into wire form where they lie.
    const fn keeps_its_size<T: Transportable + 'b>() -> bool {
        size_of::<T>() == size_of::<T::InPlace<'b>>()
            && align_of::<T>() == align_of::<T::InPlace<'b>>()
            && align_of::<T>() <= ALIGNMENT
    }

    /// Zeroes the bytes between two targets, where one may have stood that the program has dropped.
    ///
    /// # Safety
    ///
    /// `gap` bytes before `end` must lie in the message, behind all targets that were claimed and before all
    /// that will be.
    #[inline(always)]
    unsafe fn erase_gap(&self, end: *mut u8, gap: usize) {
        if gap > 0 && self.back.commit {
            // SAFETY: the caller's promise: nothing that is sent leads to these bytes, and only what is sent
            // is looked at.
            unsafe { ptr::write_bytes(end.wrapping_sub(gap), 0, gap) };
        }
    }

    /// Claims values of the objects segment, whose turn comes after those before them.
    #[inline(always)]
    pub(super) fn objects_back<T: Transportable + 'b>(
        &mut self,
        values: *const T,
        count: usize,
    ) -> u64 {
        let at = align_up(self.cursor, align_of::<T>());
        let start = self.back.base.wrapping_add(at);
        // They are in memory, so this does not wrap.
        let size = count.wrapping_mul(size_of::<T>());
        let end = at.wrapping_add(size);
        if is_elsewhere(values.addr(), start.addr(), size)
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
            self.scratch.turns.push(Turn {
                back: turn_back::<T> as TurnBack<'_>,
                start,
                end: start.wrapping_add(size),
            });
        }
        at as u64
    }

    /// Claims values of the bulk segment; those that are not in wire form as they are have a turn too.
    #[inline(always)]
    pub(super) fn bulk_back<T: Transportable + 'b>(
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
        if is_elsewhere(values.addr(), start.addr(), size)
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
                rewrite_turn::<T> as TurnBack<'_>
            } else {
                turn_back::<T>
            };
            self.scratch.turns.push(Turn {
                back,
                start,
                end: start.wrapping_add(size),
            });
        }
        at as u64
    }

    /// Claims a string where it lies, and returns its place.
    #[inline(always)]
    pub(crate) fn string_back(&mut self, text: &str) -> u64 {
        let at = self.back.text_cursor;
        let place = self.back.text.wrapping_add(at).addr();
        let left = self.back.text_end.wrapping_sub(at);
        if is_elsewhere(text.as_ptr().addr(), place, text.len()) || left < text.len() {
            return self.has_moved();
        }
        self.back.text_cursor = at.wrapping_add(text.len());
        at as u64
    }

    /// Writes a tag where it stood.
    #[inline(always)]
    pub(crate) fn tag_back(&mut self, tag: bool) {
        let at = self.back.text_cursor;
        if at >= self.back.text_end {
            let _ = self.has_moved();
            return;
        }
        self.back.text_cursor = at.wrapping_add(1);
        if self.back.commit {
            // SAFETY: the byte lies inside the text segment, at which nobody looks any more but by
            // its address.
            unsafe { self.back.text.wrapping_add(at).write(u8::from(tag)) };
        }
    }
}

/// Whether `size` bytes are not where they should be; nowhere is as good as anywhere. Whether there are
/// any can't be foreseen, so it is no branch.
#[inline(always)]
fn is_elsewhere(address: usize, place: usize, size: usize) -> bool {
    (size > 0) & (address != place)
}

/// Does the turns of one type that follow each other.
///
/// # Safety
///
/// `turn` must have been pushed with `own`, for a `T` or a type for which `own` is the same code, by a
/// walk that is not over, and must have been taken off the queue of `draft`; `back` must turn back
/// what is native.
#[inline(always)]
unsafe fn each_turn<'b, T>(
    draft: &mut Draft<'b>,
    mut turn: Turn<'b>,
    own: TurnBack<'b>,
    back: unsafe fn(*mut T, &mut Draft<'b>),
) -> Result<(), Full> {
    loop {
        let end = turn.end.cast::<T>();
        let mut place = turn.start.cast::<T>();
        while place != end {
            // SAFETY: the turn is for values from its start to its end, native still (invariant 2).
            unsafe { back(place, draft) };
            place = place.wrapping_add(1);
        }
        if draft.back.moved {
            return Err(Full);
        }
        match draft.scratch.turns.pop_same(own) {
            Some(next) => turn = next,
            None => return Ok(()),
        }
    }
}

/// Turns values back, and those that follow with the same type.
///
/// # Safety
///
/// `turn` must have been pushed for `T`, or for a type whose instance of this function is the same
/// code, by a walk that is not over, and must have been taken off the queue of `draft`.
unsafe fn turn_back<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    turn: Turn<'b>,
) -> Result<(), Full> {
    // SAFETY: the caller's promise is passed on.
    unsafe { each_turn(draft, turn, turn_back::<T>, T::write_back) }
}

/// As [`turn_back`], of values that the program may have changed.
///
/// # Safety
///
/// As for [`turn_back`].
unsafe fn rewrite_turn<'b, T: Transportable + 'b>(
    draft: &mut Draft<'b>,
    turn: Turn<'b>,
) -> Result<(), Full> {
    // SAFETY: the caller's promise is passed on.
    unsafe { each_turn(draft, turn, rewrite_turn::<T>, rewrite::<T>) }
}

/// The size in bytes of the largest form that is put on the stack.
pub(super) const LARGEST_ON_STACK: usize = 4096;

/// Writes the wire form of a value elsewhere, and then over it, each byte of it.
///
/// # Safety
///
/// `place` must hold a value, which lies in the jbuf of the walk, or beside it in a temporary.
#[inline(always)]
pub(crate) unsafe fn rewrite<'b, T: Transportable + 'b>(place: *mut T, draft: &mut Draft<'b>) {
    if !Draft::<'b>::keeps_its_size::<T>() {
        draft.has_moved();
        return;
    }
    if size_of::<T::InPlace<'b>>() > LARGEST_ON_STACK {
        let beside = Spent::heap(size_of::<T>());
        // SAFETY: the jbuf has the size, and the alignment of any form.
        unsafe { rewrite_by(place, beside.base().as_ptr().cast(), draft) };
        return;
    }
    let mut form = MaybeUninit::<T::InPlace<'b>>::uninit();
    // SAFETY: the temporary is aligned and writable.
    unsafe { rewrite_by(place, form.as_mut_ptr(), draft) };
}

/// # Safety
///
/// As for [`rewrite`], which has found that the form has the type's size; `form` must be aligned and
/// writable, and not overlap the value.
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
    // SAFETY: the caller has a value there, and nothing overwrites it during the call: targets are
    // claimed, and written when their turns come.
    let value: &'b T = unsafe { &*place };
    // SAFETY: the form is aligned, writable, and zeroed unless it is dense.
    unsafe { value.write(form, draft) };
    if draft.back.commit {
        // SAFETY: both have the size of the form, and don't overlap. The reference to the value is
        // not used again, and neither is what the draft made of it: of targets it keeps places.
        unsafe {
            ptr::copy_nonoverlapping(form.cast_const().cast::<u8>(), place.cast(), size_of::<T>())
        };
    }
}

/// Zeroes what stands where nothing travels.
///
/// # Safety
///
/// `place` must be writable.
#[inline(always)]
pub(crate) unsafe fn erase<T>(place: *mut T, draft: &Draft<'_>) {
    if draft.commits() {
        // SAFETY: the caller's promise.
        unsafe { ptr::write_bytes(place, 0, 1) };
    }
}
