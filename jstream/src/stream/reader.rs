//! Reading objects one after another from one buffer.
//!
//! Decision 048 has the reasons.

use std::cell::Cell;
#[cfg(feature = "evolve")]
use std::cell::RefCell;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::{align_of, size_of_val};
use std::slice;

use super::error::StreamError;
use super::framing::{self, Frame};
#[cfg(feature = "evolve")]
use crate::buffer::ALIGNMENT;
use crate::buffer::{EmptyBuffer, MessageBuffer};
use crate::model::Transportable;
#[cfg(doc)]
use crate::read::Limits;
use crate::read::Reader;

/// Reads the objects of a stream in place, each once. The reader owns the buffer.
///
/// All objects can be used together. When none of them is borrowed any more, the buffer can be
/// recovered.
///
/// Each call can use a different [`Reader`]. Its limits apply to each object; [`Limits::bytes`] and
/// [`Limits::zero_sized`] also apply to the stream as a whole.
///
/// An object of another version is converted into a buffer of its own, which the stream keeps.
///
/// Invariant: the bytes from `cursor` to `len` are initialised and were not written to. References
/// to them exist only during a call of this module. The bytes below `cursor` may be borrowed by
/// callers. The buffers in `converted` are only kept, until the stream is dropped.
#[derive(Debug)]
pub struct StreamReader {
    jbuf: EmptyBuffer,
    len: usize,
    cursor: Cell<usize>,
    /// Total number of zero-sized elements in the objects that were read.
    zero_sized: Cell<usize>,
    #[cfg(feature = "evolve")]
    converted: RefCell<Vec<EmptyBuffer>>,
    /// Total length of the converted objects in bytes.
    #[cfg(feature = "evolve")]
    converted_bytes: Cell<usize>,
}

impl StreamReader {
    /// Returns a reader at the start of `stream`. Items are validated when they are read.
    #[must_use]
    pub fn new(stream: MessageBuffer) -> Self {
        let len = stream.len();
        Self {
            jbuf: stream.into_empty(),
            len,
            cursor: Cell::new(0),
            zero_sized: Cell::new(0),
            #[cfg(feature = "evolve")]
            converted: RefCell::default(),
            #[cfg(feature = "evolve")]
            converted_bytes: Cell::new(0),
        }
    }

    /// Validates the next item, and makes its objects native in place. An item of another version
    /// of the type, whose schema the reader has [learnt](Reader::learn), is converted into a buffer
    /// that the stream keeps; [`Limits::bytes`] applies to all of these together.
    ///
    /// The result lives as long as the borrow of the stream, like all other objects that are read
    /// during that borrow. Objects with cells can therefore refer to one another.
    ///
    /// # Errors
    ///
    /// [`StreamError::EndOfStream`] after the last item. After [`StreamError::Damaged`], the stream
    /// has advanced to the next item. After all other errors its position is unchanged. An item of
    /// another type can be read as that type, or [skipped](Self::skip).
    pub fn next<'s, T>(&'s self, reader: &mut Reader) -> Result<&'s T::InPlace<'s>, StreamError>
    where
        T: Transportable + 'static,
    {
        let bytes = reader.limits().bytes;
        if self.len > bytes {
            return Err(StreamError::TooLong {
                len: self.len,
                limit: bytes,
            });
        }
        let frame = self.frame()?.ok_or(StreamError::EndOfStream)?;
        let offset = frame.start;
        // If code of the program reenters the stream while this item is examined, it finds an empty
        // stream.
        let before = self.cursor.replace(self.len);
        // SAFETY: the frame lies behind the cursor. The borrow ends before anything is written, and
        // no other call can reach these bytes as long as the cursor is at the end.
        let message = unsafe { self.bytes(frame.start, frame.len) };
        #[cfg(feature = "evolve")]
        if reader.is_other_version::<T>(message, frame.align(), frame.descriptor) {
            let read = self.read_converted::<T>(reader, &frame, message);
            let advanced = matches!(read, Ok(_) | Err(StreamError::Damaged { .. }));
            self.cursor.set(if advanced { frame.end() } else { before });
            return read;
        }
        let examined = reader.examine::<T>(message);
        let align = align_of::<T::InPlace<'static>>();
        let layout = match examined {
            Ok(layout) if align <= frame.align() => layout,
            other => {
                self.cursor.set(before);
                return Err(match other {
                    Ok(_) => StreamError::Misaligned { offset, align },
                    Err(error) => StreamError::Refused { offset, error },
                });
            }
        };
        // From here on the item no longer belongs to the stream, whether or not reading succeeds.
        self.cursor.set(frame.end());
        let allowed = self.allowed_zero_sized(reader);
        let mut left = allowed;
        // SAFETY: the frame lies inside the buffer.
        let base = unsafe { self.jbuf.base().add(frame.start) };
        // SAFETY: the layout is that of these bytes. They are initialised, and nothing else reaches
        // or will access them: the cursor is now behind them, and was not before. The frame begins
        // at a multiple of its alignment in a buffer aligned to 128, and the form was checked to
        // need no more.
        let read = unsafe { reader.make_native::<T>(base, &layout, frame.align(), &mut left) };
        self.count_zero_sized(allowed.saturating_sub(left));
        match read {
            // SAFETY: the root and everything that it reaches are valid and within the item. The
            // buffer stays, and nothing writes to the item, as long as the stream is borrowed,
            // which is `'s`. The two types differ only in a lifetime, and the object is returned
            // only with `'s`, since the item is never read again. The form therefore need not be
            // covariant, and values stored in its cells live for `'s`, too. Nothing accesses them
            // afterwards, as forms need no drop.
            Ok(root) => Ok(unsafe { root.cast::<T::InPlace<'s>>().as_ref() }),
            Err(error) => Err(StreamError::Damaged { offset, error }),
        }
    }

    /// Returns the number of zero-sized elements that the next object may have.
    fn allowed_zero_sized(&self, reader: &Reader) -> usize {
        let limit = reader.limits().zero_sized;
        limit.saturating_sub(self.zero_sized.get())
    }

    fn count_zero_sized(&self, elements: usize) {
        let before = self.zero_sized.get();
        self.zero_sized.set(before.saturating_add(elements));
    }

    /// Converts an item of another version, and reads the result.
    #[cfg(feature = "evolve")]
    #[cold]
    fn read_converted<'s, T>(
        &'s self,
        reader: &mut Reader,
        frame: &Frame,
        message: &[u8],
    ) -> Result<&'s T::InPlace<'s>, StreamError>
    where
        T: Transportable + 'static,
    {
        let (offset, found) = (frame.start, frame.descriptor);
        let converted = reader.convert::<T>(message, frame.align(), found, &mut |_| None);
        let converted = converted.map_err(|error| StreamError::Refused { offset, error })?;
        let len = self.converted_bytes.get().saturating_add(converted.len());
        let limit = reader.limits().bytes;
        if len > limit {
            return Err(StreamError::TooLong { len, limit });
        }
        let layout = reader.examine::<T>(converted.as_bytes());
        let layout = layout.map_err(|error| StreamError::Damaged { offset, error })?;
        let base = converted.base();
        // Nothing reads the bytes from here on.
        let buffer = converted.into_empty();
        let allowed = self.allowed_zero_sized(reader);
        let mut left = allowed;
        // SAFETY: the layout is that of these bytes. A buffer is aligned to 128. Its first bytes
        // are initialised and reached only through it. It is only kept from here on: until the
        // stream is dropped if the pass succeeds, and else until it is dropped below.
        let read = unsafe { reader.make_native::<T>(base, &layout, ALIGNMENT, &mut left) };
        self.count_zero_sized(allowed.saturating_sub(left));
        let root = read.map_err(|error| StreamError::Damaged { offset, error })?;
        self.converted.borrow_mut().push(buffer);
        self.converted_bytes.set(len);
        // SAFETY: as in `next`: the root and everything that it reaches are valid, and stay so as
        // long as the stream is borrowed, which is `'s`.
        Ok(unsafe { root.cast::<T::InPlace<'s>>().as_ref() })
    }

    /// Returns an iterator over the objects of this type, up to the end or the first item of
    /// another type. An error that does not advance the stream also ends the iteration.
    pub fn objects<'s, 'r, T>(&'s self, reader: &'r mut Reader) -> Objects<'s, 'r, T>
    where
        T: Transportable + 'static,
    {
        Objects {
            stream: self,
            reader: Some(reader),
            of: PhantomData,
        }
    }

    /// Returns the type, position and length of the next item without consuming it; `None` at the
    /// end.
    ///
    /// # Errors
    ///
    /// [`StreamError::Framing`] if there is no valid item.
    pub fn peek(&self) -> Result<Option<Upcoming>, StreamError> {
        let frame = self.frame()?;
        Ok(frame.map(|frame| Upcoming {
            descriptor: frame.descriptor,
            offset: frame.start,
            len: frame.len,
        }))
    }

    /// Skips the next item without reading it, and returns its bytes, for example to
    /// [forward](super::StreamWriter::forward) them.
    ///
    /// # Errors
    ///
    /// [`StreamError::EndOfStream`] after the last item, [`StreamError::Framing`] if there is no
    /// valid item.
    pub fn skip(&self) -> Result<Unread<'_>, StreamError> {
        let frame = self.frame()?.ok_or(StreamError::EndOfStream)?;
        self.cursor.set(frame.end());
        Ok(Unread {
            // SAFETY: the frame was behind the cursor and is below it now, so nothing will write to
            // it.
            bytes: unsafe { self.bytes(frame.start, frame.len) },
            descriptor: frame.descriptor,
            align: frame.align(),
        })
    }

    /// Parses the next message.
    #[inline]
    fn frame(&self) -> Result<Option<Frame>, StreamError> {
        let cursor = self.cursor.get();
        // SAFETY: these are the bytes behind the cursor, and they are borrowed only during this
        // call.
        let rest = unsafe { self.bytes(cursor, self.len.wrapping_sub(cursor)) };
        framing::next(rest, cursor)
    }

    /// # Safety
    ///
    /// The bytes must lie inside the stream and behind the cursor. Nothing may write to them as
    /// long as they are borrowed.
    #[inline]
    unsafe fn bytes(&self, start: usize, len: usize) -> &[u8] {
        let start = self.jbuf.base().as_ptr().wrapping_add(start).cast_const();
        // SAFETY: bytes behind the cursor are initialised, and the caller promises that they stay
        // unchanged.
        unsafe { slice::from_raw_parts(start, len) }
    }

    /// Returns true if all items were read or skipped.
    #[inline]
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.cursor.get() == self.len
    }

    /// Returns the number of bytes that were read or skipped.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.cursor.get()
    }

    /// Returns the length of the stream in bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the stream has a length of 0 bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if `value` lies entirely in the buffer of this stream.
    #[must_use]
    pub fn contains<V: ?Sized>(&self, value: &V) -> bool {
        let start = self.jbuf.base().addr().get();
        let at = std::ptr::from_ref(value).cast::<u8>().addr();
        at.checked_sub(start)
            .and_then(|offset| offset.checked_add(size_of_val(value)))
            .is_some_and(|end| end <= self.jbuf.capacity())
    }

    /// Returns the buffer. The borrow checker ensures that no object is in use any more.
    #[inline]
    #[must_use]
    pub fn into_empty(self) -> EmptyBuffer {
        self.jbuf
    }
}

/// Description of the next item: see [`StreamReader::peek`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upcoming {
    /// The [`descriptor`](crate::descriptor) of the item's type.
    pub descriptor: u64,
    /// Start of the item, in bytes from the start of the stream.
    pub offset: usize,
    /// Length of the item in bytes.
    pub len: usize,
}

/// An item that was skipped, in wire form.
#[derive(Debug, Clone, Copy)]
pub struct Unread<'s> {
    bytes: &'s [u8],
    descriptor: u64,
    align: usize,
}

impl<'s> Unread<'s> {
    /// Returns the bytes of the item, a message.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// Returns the [`descriptor`](crate::descriptor) of the item's type.
    #[inline]
    #[must_use]
    pub fn descriptor(&self) -> u64 {
        self.descriptor
    }

    /// Returns the alignment in bytes that a copy of the item needs.
    #[inline]
    #[must_use]
    pub fn align(&self) -> usize {
        self.align
    }
}

/// Iterator over the objects of one type: see [`StreamReader::objects`].
#[derive(Debug)]
pub struct Objects<'s, 'r, T> {
    stream: &'s StreamReader,
    /// `None` once the iteration has ended.
    reader: Option<&'r mut Reader>,
    of: PhantomData<fn() -> T>,
}

impl<'s, T: Transportable + 'static> Iterator for Objects<'s, '_, T> {
    type Item = Result<&'s T::InPlace<'s>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_deref_mut()?;
        let object = match self.stream.frame() {
            Ok(None) => None,
            Ok(Some(next)) => reader
                .takes::<T>(next.descriptor)
                .then(|| self.stream.next::<T>(reader)),
            Err(error) => Some(Err(error)),
        };
        if !matches!(object, Some(Ok(_) | Err(StreamError::Damaged { .. }))) {
            self.reader = None;
        }
        object
    }
}

impl<T: Transportable + 'static> FusedIterator for Objects<'_, '_, T> {}
