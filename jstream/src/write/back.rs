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

use std::mem::{self, align_of, size_of};
use std::ptr::{self, NonNull};

use super::claims::rewrite;
use super::draft::{Draft, NOTED};
use super::scratch::Scratch;
use crate::buffer::ALIGNMENT;
use crate::model::Transportable;
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
    pub(super) commit: bool,
    /// Something is not where it should be. What is claimed from then on is of no use.
    pub(super) moved: bool,
    /// The next slice that is written is one that the program may have changed.
    exclusive: bool,
    /// What is walked over is a copy of a root, of which the program may have parts of its own.
    of_copy: bool,
    pub(super) base: *mut u8,
    pub(super) objects_end: usize,
    /// Where place 0 of the bulk segment would be, and the place of its end.
    pub(super) bulk: *mut u8,
    pub(super) bulk_end: usize,
    /// The same of the text segment, and its cursor.
    pub(super) text: *mut u8,
    pub(super) text_cursor: usize,
    pub(super) text_end: usize,
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
}
