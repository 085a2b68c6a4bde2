//! The state of a message being written.
//!
//! Objects are written in the order in which their places were allocated, so the segment grows
//! strictly forward and no slot is held while it grows. Short text and small bulk arrays are
//! gathered in separate vectors. Long text and large bulk arrays are only recorded, to be copied
//! once or sent from where they are. If a root has no other targets than text, its text is written
//! to its place in a buffer of the caller.
//!
//! Invariants of a [`Draft`]:
//! 1. While a message is written, `base` is valid for reads and writes of `capacity` bytes, which
//!    nothing else accesses. Those between the header and `written` are initialised, and `written`
//!    is at most `capacity`. The header is written last.
//! 2. Jobs are queued in ascending order of their places, none of which is below `written`.
//! 3. The memory that a job or a piece points to outlives `'b`.
//! 4. `base` is aligned to [`ALIGNMENT`] if `aligned` is true, otherwise to
//!    [`LEAST_ALIGNMENT`]. In the latter case, places are allocated only for forms that need no
//!    more.
//!
//! Decisions 003 and 051 have the reasons.

use std::io::IoSlice;
use std::marker::PhantomData;
use std::mem::{self, align_of};
use std::ptr::{self, NonNull};
use std::slice;

use super::append::{PADDING, copy};
use super::blame_field::NO_ROOM;
use super::classes::Classes;
use super::error::{Full, WriteError};
use super::limit_counts::Counts;
use super::scratch::{KEEP, Piece, Scratch};
use super::write_back_state::WriteBackState;
use crate::buffer::{ALIGNMENT, EmptyBuffer, LEAST_ALIGNMENT};
use crate::class::Class;
use crate::read::Limits;
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, align_up};

/// Plain arrays and text of at least this many bytes are recorded, not gathered, if the message is
/// then copied into one piece and the writer has no other threshold. For smaller arrays, copying
/// twice costs no more than recording: in the benchmark `gather/many` of the suite `buffers` it
/// takes 0.93 of the time at 64 bytes, 1.27 at 128, and 1.8 at 512.
pub(super) const RECORD_MIN_BYTES: usize = 128;

/// Arrays and text of fewer bytes are always gathered, so that single values and short strings need
/// not check the threshold.
pub(super) const GATHER_ALWAYS_BELOW_BYTES: usize = 64;

/// Number of segments of a message without lent arrays and text: the objects, the padding, bulk,
/// and text.
pub(super) const FEW: usize = 4;

/// The state of a write: the position of the next target in each segment.
#[derive(Debug)]
pub struct Draft<'b> {
    /// The writer's own buffer.
    pub(super) objects: EmptyBuffer,
    /// Start of the buffer of the message: `objects`, or one of the caller.
    pub(super) base: NonNull<u8>,
    /// Capacity in bytes of that buffer.
    pub(super) capacity: usize,
    /// True if the buffer is `objects`, which may be replaced by a larger one.
    pub(super) growable: bool,
    /// True if `base` is aligned to [`ALIGNMENT`]; otherwise it is aligned to
    /// [`LEAST_ALIGNMENT`].
    aligned: bool,
    /// The limits of each message.
    pub(super) limits: Limits,
    /// The maximum depth of `limits`.
    pub(super) max_depth: usize,
    /// Number of levels that the queue of jobs may begin: `max_depth`, or 0 if a tracker counts
    /// them.
    pub(super) levels: usize,
    /// Maximum length of each segment in bytes.
    pub(super) limit: usize,
    /// The limit of each segment as a place in a segment that begins at [`ORIGIN`].
    pub(super) limit_from_origin: usize,
    /// True if the message can't be completed, in most cases because a segment would have exceeded
    /// the limit. Places allocated after that are meaningless.
    pub(super) full: bool,
    /// The reason why the first unsendable value can't be sent.
    pub(super) refused: Option<WriteError>,
    /// True if a form needed more than [`LEAST_ALIGNMENT`]. The draft is then `full` too.
    pub(super) misaligned: bool,
    /// Plain arrays and text of at least this many bytes are recorded, not gathered, except text
    /// that is copied to its final place. At least [`GATHER_ALWAYS_BELOW_BYTES`].
    pub(super) record_min_bytes: usize,
    /// The field whose target did not fit.
    pub(super) oversized_field: Option<String>,
    pub(super) written: usize,
    /// The end of the root.
    pub(super) root_end: usize,
    pub(super) cursor: usize,
    pub(super) bulk_cursor: usize,
    pub(super) bulk_align: usize,
    /// [`ORIGIN`] plus the number of bytes of recorded text, so that the place after all text is
    /// this plus the length of the gathered text.
    pub(super) text_origin: usize,
    pub(super) descriptor: u64,
    /// True if a reference was written that does not own its target, so that any target may be met
    /// again on another path.
    pub(super) borrows: bool,
    /// True if a shared target was not recorded, because it had one owner and nothing was borrowed.
    pub(super) skipped: bool,
    /// True if the message has to be written again with a tracker of paths to shared targets.
    pub(super) must_track: bool,
    pub(super) counts: Counts,
    /// Number of zero-sized elements that were counted in the last message that had any.
    pub(super) zero_sized: usize,
    /// Number of those in the items of a stream before this message.
    pub(super) zero_sized_before: usize,
    /// True if the message was completed.
    pub(super) is_complete: bool,
    /// True if memory other than the jobs and the gathered text and arrays was used, or if any
    /// memory has grown or is to be released.
    pub(super) needs_clearing: bool,
    pub(super) scratch: Scratch<Self>,
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
        let objects = EmptyBuffer::heap(0);
        let mut draft = Self {
            base: objects.base(),
            capacity: objects.capacity(),
            growable: false,
            limits: Limits::default(),
            max_depth: 0,
            levels: 0,
            limit: 0,
            limit_from_origin: 0,
            full: false,
            refused: None,
            aligned: true,
            misaligned: false,
            record_min_bytes: 0,
            oversized_field: None,
            objects,
            written: 0,
            root_end: 0,
            cursor: HEADER_LEN,
            bulk_cursor: ORIGIN,
            bulk_align: 1,
            text_origin: ORIGIN,
            descriptor: 0,
            borrows: false,
            skipped: false,
            must_track: false,
            counts: Counts::default(),
            zero_sized: 0,
            zero_sized_before: 0,
            is_complete: false,
            needs_clearing: false,
            scratch: Scratch::new(),
            back: WriteBackState::new(),
            classes: None,
            values: PhantomData,
        };
        draft.apply_limits(Limits::default());
        draft
    }

    /// Begins a message in the buffer that `base`, `capacity` and `growable` describe, with at most
    /// `limit` bytes in each segment. `record_min_bytes` must be at least
    /// [`GATHER_ALWAYS_BELOW_BYTES`].
    #[inline]
    pub(super) fn begin(&mut self, limit: usize, record_min_bytes: usize) {
        debug_assert!(record_min_bytes >= GATHER_ALWAYS_BELOW_BYTES);
        self.record_min_bytes = record_min_bytes;
        // No allocation is longer, and the sum of two such lengths does not wrap, even with
        // alignment.
        self.limit = limit.min(isize::MAX.unsigned_abs() / 2);
        self.limit_from_origin = self.limit.wrapping_add(ORIGIN);
        let base = self.base.addr().get();
        self.aligned = align_up(base, ALIGNMENT) == base;
        self.written = 0;
        self.cursor = HEADER_LEN;
        self.bulk_cursor = ORIGIN;
        self.bulk_align = 1;
        self.text_origin = ORIGIN;
        self.full = false;
        self.misaligned = false;
        self.borrows = false;
        self.skipped = false;
        self.is_complete = false;
    }

    /// Returns true if a target that was not recorded may have been met again.
    #[inline]
    pub(super) fn has_missed(&self) -> bool {
        self.borrows && self.skipped
    }

    /// Returns true if the message has to be written again.
    #[inline]
    pub(super) fn must_restart(&self) -> bool {
        self.has_missed() || self.must_track
    }

    /// Begins the message again, and records all shared targets, or the paths to them.
    #[cold]
    pub(super) fn restart(&mut self) {
        let borrows = self.borrows;
        let tracks = self.tracks_paths() | mem::take(&mut self.must_track);
        self.refused = None;
        self.oversized_field = None;
        self.scratch.clear();
        self.counts = Counts::default();
        self.begin(self.limit, self.record_min_bytes);
        self.borrows = borrows;
        if tracks {
            self.track_paths();
        }
    }

    /// Clears the message. Keeps memory for the next one.
    #[inline]
    pub(super) fn clear(&mut self) {
        // The jobs of a complete message are done.
        if self.is_complete && !self.needs_clearing && !self.scratch.jobs.has_grown() {
            self.scratch.text.empty();
            self.scratch.bulk.clear();
        } else {
            self.clear_all();
        }
    }

    #[inline(never)]
    fn clear_all(&mut self) {
        if self.back.active || self.refused.is_some() || self.oversized_field.is_some() {
            self.forget_failure();
        }
        let capacity = self.objects.capacity();
        if capacity > KEEP && capacity / 4 > self.written {
            self.objects = EmptyBuffer::heap(0);
        }
        self.counts = Counts::default();
        self.must_track = false;
        self.levels = self.max_depth;
        self.scratch.clear();
        self.needs_clearing = self.objects.capacity() > KEEP || self.scratch.is_large();
    }

    #[cold]
    fn forget_failure(&mut self) {
        if self.back.active {
            // A panic has interrupted restoring a message in place.
            self.end_write_back();
        }
        self.refused = None;
        self.oversized_field = None;
    }

    /// Returns true, and fails the message, if the alignment of the form exceeds that of the
    /// message's base.
    #[inline(always)]
    pub(super) fn is_misaligned<F>(&mut self) -> bool {
        if align_of::<F>() <= LEAST_ALIGNMENT || self.aligned {
            return false;
        }
        self.misaligned = true;
        self.full = true;
        true
    }

    /// Appends a string. Returns the first word of a pointer to it.
    #[inline(always)]
    pub(crate) fn string(&mut self, text: &'b str) -> u64 {
        if text.len() >= GATHER_ALWAYS_BELOW_BYTES {
            return self.long_string(text);
        }
        self.gather_string(text)
    }

    /// Like [`string`](Self::string), for text that may be long enough to be recorded. A separate
    /// function, because it is inlined at each string otherwise.
    #[inline(never)]
    fn long_string(&mut self, text: &'b str) -> u64 {
        // Text at its final place is copied there at once, however long it is.
        let is_lent = self.scratch.text.is_lent();
        if is_lent || text.len() < self.record_min_bytes || self.back.active {
            return self.gather_string(text);
        }
        let at = self.text_end();
        if at.saturating_add(text.len()) > self.limit_from_origin {
            self.full = true;
            return NO_ROOM;
        }
        self.needs_clearing = true;
        self.scratch.text_pieces.push(Piece {
            start: text.as_ptr(),
            len: text.len(),
            after: self.scratch.text.len(),
        });
        self.text_origin = self.text_origin.wrapping_add(text.len());
        at as u64
    }

    /// Returns the place after all text.
    #[inline(always)]
    pub(super) fn text_end(&self) -> usize {
        self.scratch.text.len().wrapping_add(self.text_origin)
    }

    /// Appends a string to the text that is gathered.
    #[inline(always)]
    fn gather_string(&mut self, text: &str) -> u64 {
        let at = self.text_end();
        if !self.scratch.text.has_room(text.len()) {
            if let Some(at) = self.reserve_string_slow(text) {
                return at;
            }
        }
        // SAFETY: there is room for the text. The room is memory of the draft or of the message,
        // which nothing else accesses, so it does not overlap text of the program.
        unsafe { self.scratch.text.append_within(text.as_bytes()) };
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
            classes.record(number, class);
        }
    }

    /// Records that a value can't be sent. The draft is then `full` too.
    #[cold]
    pub(crate) fn refuse(&mut self, why: WriteError) {
        self.full = true;
        self.refused.get_or_insert(why);
    }

    /// Appends the tag of a slot that has no room for its tag.
    #[inline(always)]
    pub(crate) fn tag(&mut self, tag: bool) {
        if !self.scratch.text.push_within(u8::from(tag)) {
            self.tag_slow(tag);
        }
    }

    /// Stores values until the message has been sent.
    ///
    /// # Safety
    ///
    /// The slice must not be used after the draft is cleared.
    pub(crate) unsafe fn keep_slice<T: 'b>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
    ) -> &'b [T] {
        // SAFETY: the caller's promise is passed on.
        unsafe { self.keep_slice_mut(values) }
    }

    /// Like [`keep_slice`](Self::keep_slice), for values that change.
    ///
    /// # Safety
    ///
    /// As for [`keep_slice`](Self::keep_slice).
    #[inline]
    pub(crate) unsafe fn keep_slice_mut<T: 'b>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
    ) -> &'b mut [T] {
        self.needs_clearing = true;
        let slice = self.scratch.arena.slice(values);
        // SAFETY: the values were just written, do not move, are in no other slice, and stay until
        // the draft is cleared, which is after the last use of the slice.
        unsafe { slice::from_raw_parts_mut(slice.cast::<T>(), slice.len()) }
    }

    /// Stores a value until the message has been sent.
    ///
    /// # Safety
    ///
    /// As for [`keep_slice`](Self::keep_slice).
    pub(crate) unsafe fn keep_value<T: 'b>(&mut self, value: T) -> &'b T {
        self.needs_clearing = true;
        let value = self.scratch.arena.value(value);
        // SAFETY: as for `keep_slice`; the box is not touched before it is dropped.
        unsafe { &*value }
    }

    /// Writes zeroes from `written` to `end`. The caller must have reserved room up to `end`.
    #[inline(always)]
    pub(super) fn zero_up_to(&mut self, end: usize) {
        debug_assert!(end <= self.capacity);
        if end <= self.written {
            return;
        }
        let gap = end.wrapping_sub(self.written);
        let start = self.base.as_ptr().wrapping_add(self.written);
        // SAFETY: the caller reserved room up to `end` in the buffer (invariant 1).
        unsafe { ptr::write_bytes(start, 0, gap) };
        self.written = end;
    }

    /// Like [`reserve_bulk_slow`](Self::reserve_bulk_slow), for text.
    #[cold]
    pub(super) fn reserve_string_slow(&mut self, text: &str) -> Option<u64> {
        if self.back.active {
            return Some(self.claim_string(text));
        }
        (!self.make_room(text.len(), SideSegment::Text)).then_some(NO_ROOM)
    }

    /// Makes room for a tag and appends it, or writes it to its place in a message that is restored
    /// in place.
    #[cold]
    pub(super) fn tag_slow(&mut self, tag: bool) {
        if self.back.active {
            self.overwrite_tag(tag);
        } else {
            self.needs_clearing = true;
            self.scratch.text.reserve(1);
            let _ = self.scratch.text.push_within(u8::from(tag));
        }
    }

    /// Reserves `len` bytes in a segment. Returns false if the segment would exceed the limit.
    #[cold]
    pub(super) fn make_room(&mut self, len: usize, of: SideSegment) -> bool {
        let end = match of {
            SideSegment::Bulk => self.scratch.bulk.len(),
            SideSegment::Text => self.text_end().wrapping_sub(ORIGIN),
        };
        if end.saturating_add(len) > self.limit.saturating_add(PADDING) {
            self.full = true;
            return false;
        }
        match of {
            SideSegment::Bulk => self.scratch.bulk.reserve(len),
            SideSegment::Text => self.scratch.text.reserve(len),
        }
        self.needs_clearing = true;
        true
    }

    /// Ensures that the buffer has a capacity of `end` bytes.
    #[inline]
    pub(super) fn reserve(&mut self, end: usize) -> Result<(), Full> {
        if end <= self.capacity {
            return Ok(());
        }
        self.grow(end)
    }

    #[cold]
    fn grow(&mut self, end: usize) -> Result<(), Full> {
        if !self.growable {
            self.full = true;
            return Err(Full);
        }
        let larger = end.max(4096).saturating_mul(2);
        let grown = EmptyBuffer::heap(larger);
        // SAFETY: both buffers have room for the first `written` bytes and do not overlap. The
        // bytes are copied whether they are initialised or not.
        unsafe {
            ptr::copy_nonoverlapping(self.base.as_ptr(), grown.base().as_ptr(), self.written);
        };
        self.base = grown.base();
        self.capacity = grown.capacity();
        self.objects = grown;
        // It is released if later messages are much shorter.
        self.needs_clearing = true;
        Ok(())
    }
}

/// A segment that is gathered in a separate vector.
#[derive(Debug, Clone, Copy)]
pub(super) enum SideSegment {
    Bulk,
    Text,
}

/// Zeroes to pad the objects segment to the alignment of the bulk segment.
static ZEROES: [u8; ALIGNMENT] = [0; ALIGNMENT];

/// Returns the alignment of a bulk segment of `len` bytes whose forms are aligned to `align`.
///
/// A segment of several cache lines is aligned to a cache line, so that no wide load from an array
/// that fills the segment crosses a line.
pub(crate) fn bulk_align(len: usize, align: usize) -> usize {
    const LINE: usize = 64;
    align.max(if len >= 8 * LINE { LINE } else { 1 })
}

impl Draft<'_> {
    /// Returns the length of the text segment.
    pub(super) fn text_len(&self) -> usize {
        self.text_end().wrapping_sub(ORIGIN)
    }

    pub(super) fn bulk_align(&self) -> usize {
        bulk_align(self.bulk_cursor.wrapping_sub(ORIGIN), self.bulk_align)
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an alignment is at most 128"
    )]
    pub(super) fn write_header(&self, bulk_align: usize) {
        debug_assert!(self.written >= HEADER_LEN);
        let header = Header {
            magic: MAGIC,
            bulk_align: bulk_align as u32,
            descriptor: self.descriptor,
            objects_end: self.written as u64,
            bulk_len: self.bulk_cursor.wrapping_sub(ORIGIN) as u64,
            text_len: self.text_len() as u64,
        };
        // SAFETY: the root was written behind the header.
        unsafe { self.put_header(header) };
    }

    /// Writes the header.
    ///
    /// # Safety
    ///
    /// The buffer must have room for it.
    #[inline(always)]
    pub(super) unsafe fn put_header(&self, header: Header) {
        let bytes = header.to_bytes();
        // SAFETY: the caller promises that there is room. Nothing else accesses the buffer
        // (invariant 1).
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.as_ptr(), bytes.len()) };
    }

    /// Writes the header of a message whose objects are `written`.
    pub(super) fn complete(&mut self, written: Result<(), Full>) -> Result<(), WriteError> {
        if let Some(error) = self.refused.take() {
            return Err(error);
        }
        let limit = self.limits.bytes;
        let bulk_start = align_up(self.written, self.bulk_align());
        if written.is_err() || self.message_len(bulk_start) > limit {
            let field = self.oversized_field.take();
            return Err(WriteError::TooLong { limit, field });
        }
        self.write_header(self.bulk_align());
        self.is_complete = true;
        Ok(())
    }

    /// Stores the segments of the complete message in `few`, and returns their number. If an array
    /// or text is lent, stores them in `many` instead, which must be empty.
    ///
    /// # Safety
    ///
    /// The header must have been written.
    pub(super) unsafe fn lend<'d>(
        &'d self,
        few: &mut [IoSlice<'d>; FEW],
        many: &mut Vec<IoSlice<'d>>,
    ) -> usize {
        let is_few = self.scratch.pieces.is_empty() && self.scratch.text_pieces.is_empty();
        let mut count = 0usize;
        let push = |bytes| {
            let segment = IoSlice::new(bytes);
            match few.get_mut(count).filter(|_| is_few) {
                Some(place) => *place = segment,
                None => many.push(segment),
            }
            count = count.wrapping_add(1);
        };
        // SAFETY: the caller's promise is passed on.
        unsafe { self.for_each_segment(push) };
        count
    }

    /// Passes all parts of the message to `f` in order.
    ///
    /// # Safety
    ///
    /// The header must have been written.
    pub(super) unsafe fn for_each_segment<'d>(&'d self, mut f: impl FnMut(&'d [u8])) {
        let base = self.base.as_ptr().cast_const();
        // SAFETY: the caller guarantees that the header is initialised; the other bytes up to
        // `written` are, too (invariant 1). Nothing writes to them while the draft is borrowed.
        f(unsafe { slice::from_raw_parts(base, self.written) });
        let bulk_start = align_up(self.written, self.bulk_align());
        self.for_each_tail(bulk_start.wrapping_sub(self.written), f);
    }

    /// Passes `padding` zeroes and everything after the objects to `f`.
    fn for_each_tail<'d>(&'d self, padding: usize, mut f: impl FnMut(&'d [u8])) {
        let mut some = |bytes: &'d [u8]| {
            if !bytes.is_empty() {
                f(bytes);
            }
        };
        let Some(padding) = ZEROES.get(..padding) else {
            unreachable!("a form is aligned to at most 128")
        };
        some(padding);
        let scratch = &self.scratch;
        let segments = [
            (&scratch.bulk[..], &scratch.pieces),
            (scratch.text.as_bytes(), &scratch.text_pieces),
        ];
        for (gathered, pieces) in segments {
            let mut taken = 0;
            for piece in pieces {
                some(gathered.get(taken..piece.after).unwrap_or_default());
                taken = piece.after;
                // SAFETY: the piece is a plain array or text that is initialised, is not behind a
                // cell, and outlives the draft (invariant 3).
                some(unsafe { slice::from_raw_parts(piece.start, piece.len) });
            }
            some(gathered.get(taken..).unwrap_or_default());
        }
    }

    /// Returns the length of the message, all of which has been written or recorded. The bulk
    /// segment begins at `bulk_start`.
    #[inline(always)]
    pub(super) fn message_len(&self, bulk_start: usize) -> usize {
        // Each segment is at most as long as the limit, which is at most a quarter of the range, or
        // was gathered in memory, of which there is less.
        self.bulk_cursor
            .wrapping_sub(ORIGIN)
            .wrapping_add(self.text_len())
            .wrapping_add(bulk_start)
    }

    /// Completes a message whose text is behind the root, and returns its length.
    #[inline(always)]
    pub(super) fn finish_text(&mut self) -> Result<usize, Full> {
        let end = self.written;
        debug_assert_eq!((self.cursor, self.bulk_cursor), (end, ORIGIN));
        if !self.scratch.text.is_lent() {
            return self.finish();
        }
        let text_len = self.scratch.text.len();
        self.scratch.text.use_own_memory();
        let header = Header {
            text_len: text_len as u64,
            ..Header::of_root(self.descriptor, end)
        };
        // SAFETY: the root was written behind the header.
        unsafe { self.put_header(header) };
        self.is_complete = true;
        Ok(end.wrapping_add(text_len))
    }

    /// Writes all values that were queued, completes the message in the buffer, and returns its
    /// length. Fails if it does not fit, or has to be written again.
    pub(super) fn finish(&mut self) -> Result<usize, Full> {
        self.write_targets()?;
        debug_assert!(!self.scratch.text.is_lent());
        let bulk_align = self.bulk_align();
        let bulk_start = align_up(self.written, bulk_align);
        let len = self.message_len(bulk_start);
        if len > self.capacity || self.has_missed() {
            return Err(Full);
        }
        let end = self.base.as_ptr().wrapping_add(self.written);
        let padding = bulk_start.wrapping_sub(self.written);
        self.write_header(bulk_align);
        let Scratch {
            text,
            bulk,
            pieces,
            text_pieces,
            ..
        } = &self.scratch;
        if pieces.is_empty() && text_pieces.is_empty() {
            if padding > 0 {
                // SAFETY: the lengths of all parts add up to `len`, for which there is room.
                unsafe { ptr::write_bytes(end, 0, padding) };
            }
            let mut end = end.wrapping_add(padding);
            if !bulk.is_empty() {
                // SAFETY: the lengths of all parts add up to `len`, for which there is room.
                // Nothing else accesses the buffer (invariant 1), so nothing overlaps it.
                unsafe { copy(bulk.as_ptr(), end, bulk.len()) };
                end = end.wrapping_add(bulk.len());
            }
            if text.len() > 0 {
                // SAFETY: as above. The text is not in the buffer: it is lent only from
                // `write_text_root` to `finish_text`, and a restart clears it.
                unsafe { copy(text.as_bytes().as_ptr(), end, text.len()) };
            }
        } else {
            // SAFETY: the lengths of all parts add up to `len`, for which there is room. As above,
            // the text is not in the buffer.
            unsafe { self.copy_tail(padding, end) };
        }
        self.is_complete = true;
        Ok(len)
    }

    /// Copies `padding` zeroes and everything after the objects to `end`.
    ///
    /// # Safety
    ///
    /// `end` must be the end of the objects in the buffer, which must have room for all of that. No
    /// text may be in the buffer.
    #[inline(never)]
    unsafe fn copy_tail(&self, padding: usize, mut end: *mut u8) {
        self.for_each_tail(padding, |bytes| {
            // SAFETY: the caller's buffer has room for all parts. Objects apart, only text could be
            // in the buffer (invariant 1), and the caller excludes that, so no part overlaps it.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len()) };
            end = end.wrapping_add(bytes.len());
        });
    }
}
