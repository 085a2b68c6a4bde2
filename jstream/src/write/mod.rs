//! Writing: one pass over the program's objects that lays them out as the reader will meet them.

mod alone;
mod back;
mod blame;
mod claims;
mod classes;
mod contiguous;
mod draft;
mod error;
mod forward;
mod jobs;
mod kept;
mod room;
mod scratch;
mod shared;
mod text;
mod turns;

#[cfg(unix)]
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::slice;

use zerocopy::IntoBytes;

use self::alone::is_alone;
pub(crate) use self::back::Segments;
pub(crate) use self::claims::{erase, rewrite};
pub use self::draft::Draft;
pub use self::error::{Unwritten, WriteError};
pub use self::forward::{Forwarded, Unforwarded};
use crate::buffer::{Filled, Spent};
#[cfg(unix)]
use crate::class::Class;
use crate::model::{InPlace, Transportable};
use crate::schema::Descriptors;
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, align_up, root_end};

/// Writes messages. Keeps its work lists and its scratch memory from one to the next, so that
/// writing allocates nothing in steady state.
#[derive(Debug)]
pub struct Writer {
    /// Between two messages it refers to nothing; its jbuf is where objects are gathered.
    draft: Draft<'static>,
    segments: Vec<IoSlice<'static>>,
    descriptors: Descriptors,
    /// The descriptor of messages that borrow what has one owner elsewhere in them: all shared targets
    /// are noted from the start.
    borrowing: Option<u64>,
    limit: usize,
    /// Plain arrays of at least this many bytes are lent, whatever for; else it is decided by that.
    lent_from: Option<usize>,
}

/// Plain arrays of at least this many bytes are segments of their own where segments are handed out,
/// unless a writer says otherwise. Each costs the system more than a copy of fewer bytes would. The
/// benchmark `gather/many` of the suite `buffers` has many in a message to a socket: at 512 bytes copying
/// them takes 0.87 of the time that lending them does, at 1,024 bytes 0.97, at 2,048 bytes 1.04.
const LENT: usize = 1024;

/// How many bytes a segment of a message has at most by default: as many as a reader accepts.
const LIMIT: usize = 4 << 30;

// SAFETY: a writer between two messages points to nothing but memory of its own: its lists of jobs
// and pieces are emptied with each message.
unsafe impl Send for Writer {}
// SAFETY: a shared writer hands out nothing.
unsafe impl Sync for Writer {}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// A writer that has allocated next to nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(LIMIT)
    }

    /// A writer of messages whose objects, bulk and text have at most `limit` bytes each (default
    /// 4 GiB). Answers the threat of a graph that reaches one object in many ways, or in a
    /// circle: each way writes the object again.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            draft: Draft::new(),
            segments: Vec::new(),
            descriptors: Descriptors::default(),
            borrowing: None,
            lent_from: None,
        }
    }

    /// Takes plain arrays of at least `bytes` bytes from where they are; smaller ones, and those of less
    /// than 64 bytes, are copied together first. By default it is from 128 bytes on where the message is
    /// copied into one piece, and from 1,024 where it is handed out as segments, of which each costs whoever
    /// sends it.
    #[must_use]
    pub fn lend_from(self, bytes: usize) -> Self {
        Self {
            lent_from: Some(bytes),
            ..self
        }
    }

    /// The descriptor of a form.
    #[inline]
    pub(crate) fn descriptor_of<F: InPlace>(&mut self) -> u64 {
        self.descriptors.of::<F>()
    }

    /// Notes the classes of trait objects from now on, or no longer does.
    #[cfg(unix)]
    pub(crate) fn note_classes(&mut self, wanted: bool) {
        self.draft.classes = wanted.then(classes::Classes::default);
    }

    /// The classes of the trait objects that were met since this was asked for last, by number.
    #[cfg(unix)]
    pub(crate) fn take_classes(&mut self) -> BTreeMap<u64, &'static Class> {
        let classes = self.draft.classes.as_mut();
        classes.map(classes::Classes::take).unwrap_or_default()
    }

    /// Writes `value`, and all that it reaches, into `into`.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] when the message does not fit, [`WriteError::Unregistered`] when a
    /// value behind a trait object is of no registered class, [`WriteError::Unarchived`] when rkyv
    /// does not serialize a value; the jbuf comes back.
    pub fn write<T: Transportable>(&mut self, value: &T, into: Spent) -> Result<Filled, Unwritten> {
        match self.write_alone_to(value, &into) {
            None => {}
            // SAFETY: so many bytes of the jbuf were just written.
            Some(Ok(len)) => return Ok(unsafe { Filled::from_spent(into, len) }),
            Some(Err(error)) => {
                return Err(Unwritten {
                    error,
                    spent: into,
                    misaligned: false,
                });
            }
        }
        let mut writing = self.writing(Some(into), draft::NOTED);
        let result = if writing.write_root(value).is_err() {
            Err(None)
        } else {
            writing.finish()
        };
        let refused = writing.refused.take();
        let misaligned = writing.misaligned;
        let objects = writing.take();
        let error = match (refused, result) {
            // SAFETY: `finish` initialised the first `len` bytes of the jbuf.
            (None, Ok(len)) => return Ok(unsafe { Filled::from_spent(objects, len) }),
            (Some(error), _) => error,
            (None, Err(needed)) => WriteError::EndOfStream {
                capacity: objects.capacity(),
                needed,
            },
        };
        Err(Unwritten {
            error,
            spent: objects,
            misaligned,
        })
    }

    /// Writes `value`, and all that it reaches, and lends the message as a list of segments, large
    /// plain arrays among them where they lie in the program's memory.
    ///
    /// # Errors
    ///
    /// [`WriteError::TooLong`] when the message exceeds the writer's limit,
    /// [`WriteError::Unregistered`] when a value behind a trait object is of no registered class,
    /// [`WriteError::Unarchived`] when rkyv does not serialize a value. Nothing is lent then.
    pub fn gather<T: Transportable, R>(
        &mut self,
        value: &T,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        self.gathered(value, LENT, send)
    }

    /// As [`gather`](Self::gather), with plain arrays lent from `noted` bytes on, unless the writer says
    /// otherwise.
    #[inline]
    fn gathered<T: Transportable, R>(
        &mut self,
        value: &T,
        noted: usize,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        if is_alone::<T::InPlace<'_>>() && root_end::<T::InPlace<'_>>() <= self.limit {
            return self.gather_alone(value, send);
        }
        self.gather_graph(value, noted, send)
    }

    /// The same, of what need not be alone.
    fn gather_graph<T: Transportable, R>(
        &mut self,
        value: &T,
        noted: usize,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        let limit = self.limit;
        let kept = mem::take(&mut self.segments);
        let mut writing = self.writing(None, noted);
        let full = writing.write_root(value).is_err();
        if let Some(error) = writing.refused.take() {
            return Err(error);
        }
        if full {
            let field = writing.without_room.take();
            return Err(WriteError::TooLong { limit, field });
        }
        writing.write_header(writing.bulk_start());
        if writing.scratch.pieces.is_empty() {
            // Objects, padding, bulk, text.
            let (mut few, mut count) = ([IoSlice::new(&[]); 4], 0usize);
            writing.for_each_segment(|bytes| {
                if let Some(segment) = few.get_mut(count) {
                    *segment = IoSlice::new(bytes);
                }
                count = count.wrapping_add(1);
            });
            let result = send(few.get(..count).unwrap_or_default());
            drop(writing);
            self.segments = kept;
            return Ok(result);
        }
        // An emptied list's memory serves again, for segments of another lifetime.
        let mut segments: Vec<IoSlice<'_>> = kept.into_iter().map(|_| IoSlice::new(&[])).collect();
        writing.for_each_segment(|bytes| segments.push(IoSlice::new(bytes)));
        let result = send(&segments);
        segments.clear();
        segments.shrink_to(scratch::KEEP_PIECES);
        let kept = segments.into_iter().map(|_| IoSlice::new(&[])).collect();
        drop(writing);
        self.segments = kept;
        Ok(result)
    }

    /// Begins a message in `into`; without it, in the writer's own jbuf, which grows.
    #[inline]
    fn writing<'w, 'b>(&'w mut self, into: Option<Spent>, noted: usize) -> Writing<'w, 'b> {
        let draft = ptr::from_mut(&mut self.draft).cast::<Draft<'b>>();
        // SAFETY: the types differ in a lifetime only, and the draft refers to nothing yet. What it
        // comes to refer to is forgotten when the `Writing` is dropped, which is within `'b`, as it
        // names that lifetime, and which the functions above see to: none forgets one.
        let draft = unsafe { &mut *draft };
        let limit = into.as_ref().map_or(self.limit, Spent::capacity);
        let own = into.map(|into| mem::replace(&mut draft.objects, into));
        draft.begin(limit, own.is_none(), self.lent_from.unwrap_or(noted));
        Writing {
            draft,
            own,
            descriptors: &mut self.descriptors,
            borrowing: &mut self.borrowing,
        }
    }
}

/// A message that is being written. The draft is empty again when this is dropped.
struct Writing<'w, 'b> {
    draft: &'w mut Draft<'b>,
    /// The writer's own jbuf while the message has another.
    own: Option<Spent>,
    descriptors: &'w mut Descriptors,
    borrowing: &'w mut Option<u64>,
}

impl Writing<'_, '_> {
    /// Takes the message's jbuf.
    #[inline]
    fn take(mut self) -> Spent {
        let own = self.own.take();
        mem::replace(
            &mut self.draft.objects,
            own.unwrap_or_else(|| Spent::heap(0)),
        )
    }
}

impl<'b> Writing<'_, 'b> {
    /// Writes all but the header; the error says that there was too little room.
    #[inline]
    fn write_root<T: Transportable>(&mut self, value: &'b T) -> Result<(), draft::Full> {
        let descriptor = self.descriptors.of::<T::InPlace<'b>>();
        self.draft.descriptor = descriptor;
        self.draft.borrows = *self.borrowing == Some(descriptor);
        let result = self.draft.write_root(value);
        if !self.draft.has_missed() {
            return result;
        }
        *self.borrowing = Some(descriptor);
        self.draft.begin_again();
        self.draft.write_root(value)
    }
}

impl<'b> Deref for Writing<'_, 'b> {
    type Target = Draft<'b>;

    fn deref(&self) -> &Draft<'b> {
        self.draft
    }
}

impl<'b> DerefMut for Writing<'_, 'b> {
    fn deref_mut(&mut self) -> &mut Draft<'b> {
        self.draft
    }
}

impl Drop for Writing<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            self.draft.objects = own;
        }
        self.draft.clear();
    }
}

/// Zeroes to pad the objects segment to the alignment of the bulk segment.
static PADDING: [u8; crate::buffer::ALIGNMENT] = [0; crate::buffer::ALIGNMENT];

/// The alignment of a bulk segment of `len` bytes in which forms are aligned to `align`.
///
/// One of several cache lines begins at one: an array that is alone in it is then walked by wide loads
/// none of which needs two lines.
pub(crate) fn bulk_align(len: usize, align: usize) -> usize {
    const LINE: usize = 64;
    align.max(if len >= 8 * LINE { LINE } else { 1 })
}

impl Draft<'_> {
    fn bulk_start(&self) -> usize {
        align_up(self.written, self.bulk_align())
    }

    fn bulk_align(&self) -> usize {
        bulk_align(self.bulk_cursor.wrapping_sub(ORIGIN), self.bulk_align)
    }

    fn write_header(&self, bulk_start: usize) {
        debug_assert!(bulk_start >= HEADER_LEN);
        let header = Header {
            magic: MAGIC,
            bulk_align: u32::try_from(self.bulk_align()).unwrap_or(u32::MAX),
            descriptor: self.descriptor,
            objects_end: self.written as u64,
            bulk_len: self.bulk_cursor.wrapping_sub(ORIGIN) as u64,
            text_len: self.scratch.text.len() as u64,
        };
        let bytes = header.as_bytes();
        // SAFETY: `write_root` reserved and zeroed the first 40 bytes of the jbuf, which the draft
        // owns.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.objects.base().as_ptr(), bytes.len());
        };
    }

    /// Hands out all parts of the message in order; the header must have been written.
    fn for_each_segment<'d>(&'d self, mut f: impl FnMut(&'d [u8])) {
        let base = self.objects.base().as_ptr().cast_const();
        // SAFETY: the first `written` bytes are initialised (invariant 1), and nothing writes to
        // them while the draft is borrowed.
        f(unsafe { slice::from_raw_parts(base, self.written) });
        let padding = self.bulk_start().wrapping_sub(self.written);
        self.for_each_tail(padding, f);
    }

    /// Hands out what comes after the objects and `padding`.
    fn for_each_tail<'d>(&'d self, padding: usize, mut f: impl FnMut(&'d [u8])) {
        let mut some = |bytes: &'d [u8]| {
            if !bytes.is_empty() {
                f(bytes);
            }
        };
        let Some(padding) = PADDING.get(..padding) else {
            unreachable!("a form is aligned to 128 at most")
        };
        some(padding);
        let mut taken = 0;
        for piece in &self.scratch.pieces {
            some(
                self.scratch
                    .bulk
                    .get(taken..piece.after)
                    .unwrap_or_default(),
            );
            taken = piece.after;
            // SAFETY: the piece is a plain array, initialised and not behind a cell, that outlives
            // the draft (invariant 3).
            some(unsafe { slice::from_raw_parts(piece.start, piece.len) });
        }
        some(self.scratch.bulk.get(taken..).unwrap_or_default());
        some(&self.scratch.text);
    }

    /// Completes the message in the jbuf, and returns its length; else how long it would be.
    fn finish(&self) -> Result<usize, Option<usize>> {
        let bulk_start = self.bulk_start();
        let len = self
            .bulk_cursor
            .wrapping_sub(ORIGIN)
            .saturating_add(self.scratch.text.len())
            .saturating_add(bulk_start);
        if len > self.objects.capacity() {
            return Err(Some(len));
        }
        self.write_header(bulk_start);
        let mut end = self.objects.base().as_ptr().wrapping_add(self.written);
        self.for_each_tail(bulk_start.wrapping_sub(self.written), |bytes| {
            // SAFETY: the lengths of all parts add up to `len`, for which there is room; the jbuf
            // is owned by the draft, so no part overlaps it.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len()) };
            end = end.wrapping_add(bytes.len());
        });
        Ok(len)
    }
}
