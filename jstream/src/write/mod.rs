//! Writing: one pass over the program's objects that lays them out as the reader will meet them.

mod draft;
mod error;
mod jobs;
mod kept;
mod shared;
mod text;

use std::io::IoSlice;
use std::mem;
use std::ptr;
use std::slice;

use zerocopy::IntoBytes;

pub use self::draft::Draft;
use self::draft::Scratch;
pub use self::error::{Unwritten, WriteError};
use crate::buffer::{Filled, Pool, Spent};
use crate::model::Transportable;
use crate::schema::Descriptors;
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, align_up};

/// Writes messages. Keeps its work lists and its scratch memory from one to the next, so that
/// writing allocates nothing in steady state.
#[derive(Debug)]
pub struct Writer {
    /// Where objects are gathered; none while lent to a draft.
    objects: Option<Spent>,
    scratch: Scratch<'static>,
    segments: Vec<IoSlice<'static>>,
    descriptors: Descriptors,
    limit: usize,
}

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
            objects: None,
            scratch: Scratch::new(),
            segments: Vec::new(),
            descriptors: Descriptors::default(),
        }
    }

    /// Writes `value`, and all that it reaches, into `into`.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] when the message does not fit, [`WriteError::Unregistered`] when a
    /// value behind a trait object is of no registered class; the jbuf comes back.
    pub fn write<T: Transportable>(&mut self, value: &T, into: Spent) -> Result<Filled, Unwritten> {
        let (draft, full) = self.draft(value, into, None);
        let result = if full { Err(None) } else { draft.finish() };
        let Draft {
            objects,
            scratch,
            unregistered,
            ..
        } = draft;
        self.scratch = scratch.recycle();
        let error = match (unregistered, result) {
            // SAFETY: `finish` initialised the first `len` bytes of the jbuf.
            (None, Ok(len)) => return Ok(unsafe { Filled::from_spent(objects, len) }),
            (Some((class, of)), _) => WriteError::Unregistered { class, of },
            (None, Err(needed)) => WriteError::EndOfStream {
                capacity: objects.capacity(),
                needed,
            },
        };
        Err(Unwritten {
            error,
            spent: objects,
        })
    }

    /// Writes `value`, and all that it reaches, into a jbuf of `pool` of the right size.
    ///
    /// # Errors
    ///
    /// [`WriteError::Pool`] when the pool has none; else as for [`gather`](Self::gather).
    pub fn write_to<T: Transportable>(
        &mut self,
        value: &T,
        pool: &Pool,
    ) -> Result<Filled, WriteError> {
        self.gather(value, |segments| {
            let len = segments.iter().map(|segment| segment.len()).sum();
            let mut filling = pool.take(len)?.filling();
            for segment in segments {
                if !filling.extend(segment) {
                    unreachable!("the pool gave the capacity that was asked for");
                }
            }
            Ok(filling.finish())
        })?
    }

    /// Writes `value`, and all that it reaches, and lends the message as a list of segments, large
    /// plain arrays among them where they lie in the program's memory.
    ///
    /// # Errors
    ///
    /// [`WriteError::TooLong`] when the message exceeds the writer's limit,
    /// [`WriteError::Unregistered`] when a value behind a trait object is of no registered class.
    /// Nothing is lent then.
    pub fn gather<T: Transportable, R>(
        &mut self,
        value: &T,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        let objects = self.objects.take().unwrap_or_else(|| Spent::heap(4096));
        let (mut draft, full) = self.draft(value, objects, Some(self.limit));
        let unregistered = draft.unregistered.take();
        if full || unregistered.is_some() {
            self.scratch = draft.scratch.recycle();
            return Err(match unregistered {
                Some((class, of)) => WriteError::Unregistered { class, of },
                None => WriteError::TooLong { limit: self.limit },
            });
        }
        draft.write_header(draft.bulk_start());
        // An emptied list's memory serves again, for segments of another lifetime.
        let mut segments: Vec<IoSlice<'_>> = mem::take(&mut self.segments)
            .into_iter()
            .map(|_| IoSlice::new(&[]))
            .collect();
        draft.for_each_segment(|bytes| segments.push(IoSlice::new(bytes)));
        let result = send(&segments);
        segments.clear();
        segments.shrink_to(draft::KEEP_PIECES);
        self.segments = segments.into_iter().map(|_| IoSlice::new(&[])).collect();
        let Draft {
            objects, scratch, ..
        } = draft;
        if objects.capacity() <= draft::KEEP {
            self.objects = Some(objects);
        }
        self.scratch = scratch.recycle();
        Ok(result)
    }

    /// Writes all but the header; also says whether there was too little room. Without a limit
    /// the room is that of the jbuf.
    fn draft<'b, T: Transportable>(
        &mut self,
        value: &'b T,
        objects: Spent,
        limit: Option<usize>,
    ) -> (Draft<'b>, bool) {
        let scratch = mem::replace(&mut self.scratch, Scratch::new());
        let mut draft = Draft::new(objects, limit, scratch.recycle());
        draft.descriptor = self.descriptors.of::<T::InPlace<'b>>();
        let full = draft.write_root(value).is_err();
        (draft, full)
    }
}

/// Zeroes to pad the objects segment to the alignment of the bulk segment.
static PADDING: [u8; crate::buffer::ALIGNMENT] = [0; crate::buffer::ALIGNMENT];

impl Draft<'_> {
    fn bulk_start(&self) -> usize {
        align_up(self.written, self.bulk_align)
    }

    fn write_header(&self, bulk_start: usize) {
        debug_assert!(bulk_start >= HEADER_LEN);
        let header = Header {
            magic: MAGIC,
            bulk_align: u32::try_from(self.bulk_align).unwrap_or(u32::MAX),
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
