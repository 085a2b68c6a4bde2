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

use std::mem::{self, align_of, size_of};
use std::ptr::NonNull;

use super::claims::rewrite;
use super::draft::{Draft, RECORD_MIN_BYTES};
use super::scratch::Scratch;
use super::text_buffer::TextBuffer;
use super::write_back_state::WriteBackState;
use crate::buffer::ALIGNMENT;
use crate::model::Transportable;
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
            let Some(turn) = self.scratch.work_queue.pop() else {
                break;
            };
            let back = turn.back;
            // SAFETY: the work item was pushed with the function for its type and was just taken
            // off the queue.
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
}
