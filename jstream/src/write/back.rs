//! A message that was read, turned back into what it was, where it lies.
//!
//! A walk in the order of the writer over native objects. Each target must lie where the writer would
//! put it; then no target is copied, and each pointer becomes the place that was just compared. What
//! has moved ends the walk.
//!
//! Invariants of a walk:
//! 1. A turn is for values at the places that were claimed for them: each byte of the objects and of bulk
//!    by one target, below the cursors, which end where the message's segments do.
//! 2. What lies at a claimed place is native until its turn is done, and wire form afterwards. Only turns
//!    look at it; nothing else looks through a pointer.
//! 3. No reference to a value is used once its bytes have been overwritten: bytes are overwritten
//!    through raw pointers from the jbuf's base, when no call that was given the reference is left.

use std::mem::{self, MaybeUninit, align_of, size_of};
use std::ptr::{self, NonNull};

use super::blame::NO_ROOM;
use super::draft::{Draft, Full, NOTED, Scratch};
use super::turns::{Turn, TurnBack};
use crate::buffer::{ALIGNMENT, Spent};
use crate::model::{InPlace, Transportable};
use crate::wire::{HEADER_LEN, Header, ORIGIN, align_up, in_memory};

/// Where the segments of a message are that was read and is in its jbuf still.
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
    /// `base` must be that of a jbuf whose header was found to be true of the message in it, and has
    /// not been changed since.
    pub(crate) unsafe fn of(base: NonNull<u8>) -> Self {
        // SAFETY: the caller has a header there, aligned as a jbuf is.
        let header = unsafe { base.cast::<Header>().read() };
        let objects_end = in_memory(header.objects_end);
        let bulk_len = in_memory(header.bulk_len);
        // What was read did not wrap.
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

    /// How long the message is, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.text_start.wrapping_add(self.text_len)
    }

    /// Where the root of type `T` stands.
    pub(crate) fn root<T>(&self) -> *mut T {
        let at = align_up(HEADER_LEN, align_of::<T>());
        self.base.as_ptr().wrapping_add(at).cast()
    }

    /// Room for a copy of the root behind the message, if it is small and the jbuf has some.
    pub(crate) fn kept<T>(&self, capacity: usize) -> Option<*mut T> {
        let at = align_up(self.len(), ALIGNMENT);
        let end = at.checked_add(size_of::<T>())?;
        let fits = end <= capacity && size_of::<T>() <= LARGEST_KEPT;
        fits.then(|| self.base.as_ptr().wrapping_add(at).cast())
    }
}

/// A larger root is not kept as it was.
const LARGEST_KEPT: usize = 4096;

/// What a walk does with the places that it works out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: it only looks whether all is where it should be.
    Compare,
    /// It writes them over the pointers. The root may have been changed if so said.
    Commit { changed: bool },
}

/// The state of a walk beside the cursors of its draft.
#[derive(Debug)]
pub(super) struct Back {
    pub(super) active: bool,
    commit: bool,
    /// Something is not where it should be. What is claimed from then on is of no use.
    moved: bool,
    /// The next slice that is written is one that the program may have changed.
    exclusive: bool,
    /// What is walked over is a copy of a root, of which the program may have parts of its own.
    of_copy: bool,
    base: *mut u8,
    objects_end: usize,
    /// Where place 0 of the bulk segment would be, and the place of its end.
    bulk: *mut u8,
    bulk_end: usize,
    /// The same of the text segment, and its cursor.
    text: *mut u8,
    text_cursor: usize,
    text_end: usize,
    /// The draft's own text and bulk, so that it has no room for either and asks here.
    aside: (Vec<u8>, Vec<u8>),
}

impl Back {
    pub(super) const fn new() -> Self {
        Self {
            active: false,
            commit: false,
            moved: false,
            exclusive: false,
            of_copy: false,
            base: ptr::null_mut(),
            objects_end: 0,
            bulk: ptr::null_mut(),
            bulk_end: 0,
            text: ptr::null_mut(),
            text_cursor: 0,
            text_end: 0,
            aside: (Vec::new(), Vec::new()),
        }
    }

    /// Whether the slice that is written is one that the program may have changed.
    pub(super) fn take_exclusive(&mut self) -> bool {
        mem::take(&mut self.exclusive)
    }
}

impl<'b> Draft<'b> {
    /// Walks over a message that was read; says whether everything in it is where the writer would
    /// have put it, and is all of it. If so, and the step commits, the message is in wire form again,
    /// but for its header, which is there still.
    ///
    /// # Safety
    ///
    /// `of` must be the segments of a message that was read as what `T` is for another lifetime, and
    /// the jbuf must be reached in no other way. After a step that commits, nobody may look at the
    /// objects again: it ends with all of them in wire form, or some.
    pub(super) unsafe fn walk_back<T: Transportable + 'b>(
        &mut self,
        of: &Segments,
        step: Step,
    ) -> bool {
        self.enter_back(of, step);
        let root = of.root::<T>();
        let at = align_up(HEADER_LEN, align_of::<T>());
        self.cursor = at.wrapping_add(size_of::<T>());
        self.scratch.shared.set_root::<T>(root);
        match step {
            // A value that the program had in its hands may have padding that is not initialised.
            // SAFETY: the root stands at its place, native.
            Step::Commit { changed: true } => unsafe { rewrite::<T>(root, self) },
            // SAFETY: as above.
            _ => unsafe { T::write_back(root, self) },
        }
        while !self.back.moved {
            let Some(turn) = self.scratch.turns.pop() else {
                break;
            };
            let back = turn.back;
            // SAFETY: the turn was pushed with the function for its type and just taken off.
            if unsafe { back(self, turn) }.is_err() {
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
            self.align_back(of);
        }
        self.leave_back();
        all
    }

    /// Writes into the header how bulk is aligned, where it would stand by what its targets need.
    fn align_back(&self, of: &Segments) {
        let align = self.bulk_align();
        if align_up(of.objects_end, align) != of.bulk_start {
            return;
        }
        let header = of.base.cast::<Header>().as_ptr();
        let align = u32::try_from(align).unwrap_or(u32::MAX);
        // SAFETY: the header stands at the start of the jbuf.
        let place = unsafe { &raw mut (*header).bulk_align };
        // SAFETY: the walk has the jbuf for itself.
        unsafe { place.write(align) };
    }

    /// Whether a root leads to the same targets as a copy that was made of it when it was read, and the
    /// targets therefore, which nothing has changed, to theirs.
    ///
    /// The walk beyond the root depends on nothing but the turns that the root has put into the queue, the
    /// shared targets that it has met, and the cursors. So if the copy and the root give the same, the
    /// walk will find everything in its place, as it would have done before the root was changed.
    ///
    /// # Safety
    ///
    /// As for [`walk_back`](Self::walk_back), and `kept` must be the copy of a root.
    /// Functions of the program see the root alone.
    pub(super) unsafe fn is_root_as_it_was<T: Transportable + 'b>(
        &mut self,
        of: &Segments,
        kept: *mut T,
    ) -> bool {
        // SAFETY: the caller's promise is passed on; nothing is written.
        let was = unsafe { self.claims_of_root(of, kept) };
        mem::swap(&mut self.scratch.turns, &mut self.scratch.turns_before);
        mem::swap(&mut self.scratch.shared, &mut self.scratch.shared_before);
        // SAFETY: as above.
        let is = unsafe { self.claims_of_root(of, of.root::<T>()) };
        let there = was.is_some() && was == is;
        let Scratch {
            turns,
            turns_before,
            shared,
            shared_before,
            ..
        } = &mut self.scratch;
        let same = there && shared.is_the_same(shared_before) && turns.are_the_same(turns_before);
        self.leave_back();
        same
    }

    /// Queues the targets of a root, and returns where the cursors are then; none if something has
    /// moved.
    ///
    /// # Safety
    ///
    /// As for [`walk_back`](Self::walk_back); `root` may be a copy.
    unsafe fn claims_of_root<T: Transportable + 'b>(
        &mut self,
        of: &Segments,
        root: *mut T,
    ) -> Option<[usize; 3]> {
        self.enter_back(of, Step::Compare);
        self.back.of_copy = root != of.root::<T>();
        self.scratch.shared.set_root::<T>(of.root::<T>());
        self.cursor = align_up(HEADER_LEN, align_of::<T>()).wrapping_add(size_of::<T>());
        // SAFETY: the caller has a root there.
        unsafe { T::write_back(root, self) };
        let there = !self.back.moved && self.refused.is_none();
        there.then_some([self.cursor, self.bulk_cursor, self.back.text_cursor])
    }

    /// Sets the cursors to where the message begins, and takes away all room, so that what would be
    /// written is looked for where it lies.
    fn enter_back(&mut self, of: &Segments, step: Step) {
        self.begin(0, false, NOTED);
        self.limit_from_origin = 0;
        // All shared targets are noted.
        self.borrows = true;
        self.refused = None;
        let base = of.base.as_ptr();
        let aside = if self.back.active {
            mem::take(&mut self.back.aside)
        } else {
            (
                mem::take(&mut self.scratch.text),
                mem::take(&mut self.scratch.bulk),
            )
        };
        self.back = Back {
            active: true,
            commit: step != Step::Compare,
            moved: false,
            exclusive: false,
            of_copy: false,
            base,
            objects_end: of.objects_end,
            bulk: base.wrapping_add(of.bulk_start).wrapping_sub(ORIGIN),
            bulk_end: of.bulk_len.wrapping_add(ORIGIN),
            text: base.wrapping_add(of.text_start).wrapping_sub(ORIGIN),
            text_cursor: ORIGIN,
            text_end: of.text_len.wrapping_add(ORIGIN),
            aside,
        };
    }

    /// Forgets the message; the draft is one of messages that are written again.
    #[cold]
    pub(super) fn leave_back(&mut self) {
        let (text, bulk) = mem::take(&mut self.back.aside);
        self.back.active = false;
        self.back.of_copy = false;
        self.scratch.turns.clear();
        self.scratch.turns_before.clear();
        self.scratch.shared_before.clear();
        self.scratch.text = text;
        self.scratch.bulk = bulk;
        self.scratch.clear();
        self.refused = None;
    }

    /// In which segment of the message something lies, if in one, and whether before its cursor.
    #[inline(always)]
    pub(super) fn segment_back(&self, address: usize) -> Option<(usize, bool)> {
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

    /// Whether places are written over the pointers.
    #[inline(always)]
    pub(crate) fn commits(&self) -> bool {
        self.back.commit
    }

    /// Notes that the next slice that is written is one that the program may have changed.
    #[inline(always)]
    pub(crate) fn exclusive(&mut self) {
        self.back.exclusive = true;
    }

    /// Whether a value is only a copy, byte by byte, of one that the program may have taken. No function of
    /// the program may see that, as a type may promise to have no copies; so the walk over it ends.
    #[inline(always)]
    pub(crate) fn is_of_copy(&mut self) -> bool {
        if self.back.of_copy {
            let _ = self.has_moved();
        }
        self.back.of_copy
    }

    /// Notes that something is not where it should be.
    #[cold]
    fn has_moved(&mut self) -> u64 {
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

/// Larger forms are not put on the stack.
const LARGEST_ON_STACK: usize = 4096;

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
