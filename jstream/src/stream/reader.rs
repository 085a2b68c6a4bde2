//! Objects one after another out of one jbuf.

use std::cell::Cell;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::{align_of, size_of_val};
use std::slice;

use super::error::StreamError;
use super::framing::{self, Frame};
use crate::buffer::{Filled, Spent};
use crate::model::Transportable;
use crate::read::{Limits, Reader};

/// Owns a stream, and hands out its objects where they lie, each once. All of them may be used side by
/// side; when the last is no longer in use the jbuf can be had back.
///
/// The [`Reader`] may be another each time. Its limits are for each object; [`Limits::bytes`] and
/// [`Limits::zero_sized`] are also for the stream as a whole.
///
/// Invariant: the bytes from `cursor` to `len` are initialised, and nobody has written to them, or
/// refers to them but for the length of a call of this module. Those below belong to others.
#[derive(Debug)]
pub struct StreamReader {
    jbuf: Spent,
    len: usize,
    cursor: Cell<usize>,
    /// How many elements without size the objects have that were read.
    zero_sized: Cell<usize>,
}

impl StreamReader {
    /// Begins at the start of `stream`. Nothing is checked yet.
    #[must_use]
    pub fn new(stream: Filled) -> Self {
        let len = stream.len();
        Self {
            jbuf: stream.into_spent(),
            len,
            cursor: Cell::new(0),
            zero_sized: Cell::new(0),
        }
    }

    /// Checks the next item, and makes its objects native where they lie.
    ///
    /// What it returns lives as long as the stream is borrowed, as does everything that is read from it
    /// meanwhile; so objects with cells may come to refer to one another.
    ///
    /// # Errors
    ///
    /// [`StreamError::EndOfStream`] behind the last item. After [`StreamError::Damaged`] the stream goes on
    /// with the item behind; after all other errors it stands where it stood, and where the item is of
    /// another type it can be read as that, or [skipped](Self::skip).
    pub fn next<'s, T>(&'s self, reader: &mut Reader) -> Result<&'s T::InPlace<'s>, StreamError>
    where
        T: Transportable + 'static,
    {
        let Limits {
            bytes, zero_sized, ..
        } = *reader.limits();
        if self.len > bytes {
            return Err(StreamError::TooLong {
                len: self.len,
                limit: bytes,
            });
        }
        let frame = self.frame()?.ok_or(StreamError::EndOfStream)?;
        let offset = frame.start;
        // Code of the program that came back here while this item is looked at would find nothing.
        let before = self.cursor.replace(self.len);
        // SAFETY: the frame lies behind the cursor. What is lent goes out of use before anything is
        // written, and no other call gets to these bytes as long as the cursor stands at the end.
        let message = unsafe { self.bytes(frame.start, frame.len) };
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
        // From here on the item is not the stream's any more, whatever comes of it.
        self.cursor.set(frame.end());
        let allowed = zero_sized.saturating_sub(self.zero_sized.get());
        let mut left = allowed;
        // SAFETY: the frame lies inside the jbuf.
        let base = unsafe { self.jbuf.base().add(frame.start) };
        // SAFETY: the layout is that of these bytes, which are initialised, and which nothing else
        // reaches or will look at: the cursor is behind them, and was not before. The frame begins at a
        // multiple of its alignment in a jbuf aligned to 128, and the form was found to need no more.
        let read = unsafe { reader.make_native::<T>(base, &layout, frame.align(), &mut left) };
        let counted = allowed.saturating_sub(left);
        self.zero_sized
            .set(self.zero_sized.get().saturating_add(counted));
        match read {
            // SAFETY: the root is valid, and so is all it reaches, within the item. The jbuf stays, and
            // nobody writes to the item, for as long as the stream is borrowed, which is `'s`. The types
            // differ in a lifetime only, and it is handed out with this one alone: the item is never
            // read again. So the form need not be covariant, and what is stored in its cells lives for
            // `'s` too; nothing looks at it afterwards, as forms need no drop.
            Ok(root) => Ok(unsafe { root.cast::<T::InPlace<'s>>().as_ref() }),
            Err(error) => Err(StreamError::Damaged { offset, error }),
        }
    }

    /// Iterates over objects of this type, up to the first item of another type, or the end. An error that
    /// leaves the stream where it is ends it too.
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

    /// What the next item is, which stays where it is; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`StreamError::Framing`] where there is no item.
    pub fn peek(&self) -> Result<Option<Upcoming>, StreamError> {
        let frame = self.frame()?;
        Ok(frame.map(|frame| Upcoming {
            descriptor: frame.descriptor,
            offset: frame.start,
            len: frame.len,
        }))
    }

    /// Passes the next item without looking into it, and hands out its bytes: to be
    /// [forwarded](super::StreamWriter::forward), for example.
    ///
    /// # Errors
    ///
    /// [`StreamError::EndOfStream`] behind the last item, [`StreamError::Framing`] where there is none.
    pub fn skip(&self) -> Result<Unread<'_>, StreamError> {
        let frame = self.frame()?.ok_or(StreamError::EndOfStream)?;
        self.cursor.set(frame.end());
        Ok(Unread {
            // SAFETY: the frame lay behind the cursor, and now below it: nobody will write to it.
            bytes: unsafe { self.bytes(frame.start, frame.len) },
            descriptor: frame.descriptor,
            align: frame.align(),
        })
    }

    /// The next message.
    #[inline]
    fn frame(&self) -> Result<Option<Frame>, StreamError> {
        let cursor = self.cursor.get();
        // SAFETY: these are the bytes behind the cursor, and they are lent for this call.
        let rest = unsafe { self.bytes(cursor, self.len.wrapping_sub(cursor)) };
        framing::next(rest, cursor)
    }

    /// # Safety
    ///
    /// The bytes must lie inside the stream, behind the cursor, and nobody write to them for as long as
    /// they are lent.
    #[inline]
    unsafe fn bytes(&self, start: usize, len: usize) -> &[u8] {
        let start = self.jbuf.base().as_ptr().wrapping_add(start).cast_const();
        // SAFETY: behind the cursor bytes are initialised, and the caller promises that they stay so.
        unsafe { slice::from_raw_parts(start, len) }
    }

    /// Whether all items were read or skipped.
    #[inline]
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.cursor.get() == self.len
    }

    /// How many bytes were read or skipped.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.cursor.get()
    }

    /// The length of the stream in bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes at all.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `value` lies wholly in this stream's jbuf.
    #[must_use]
    pub fn contains<V: ?Sized>(&self, value: &V) -> bool {
        let start = self.jbuf.base().addr().get();
        let at = std::ptr::from_ref(value).cast::<u8>().addr();
        at.checked_sub(start)
            .and_then(|offset| offset.checked_add(size_of_val(value)))
            .is_some_and(|end| end <= self.jbuf.capacity())
    }

    /// Gives the jbuf back, once nobody refers to its objects any more.
    #[inline]
    #[must_use]
    pub fn into_spent(self) -> Spent {
        self.jbuf
    }
}

/// What [`StreamReader::peek`] sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Upcoming {
    /// The [`descriptor`](crate::descriptor) of its type.
    pub descriptor: u64,
    /// Where it begins, in bytes from the stream's start.
    pub offset: usize,
    /// Its length in bytes.
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
    /// Its bytes: a message.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &'s [u8] {
        self.bytes
    }

    /// The [`descriptor`](crate::descriptor) of its type.
    #[inline]
    #[must_use]
    pub fn descriptor(&self) -> u64 {
        self.descriptor
    }

    /// What a place that it is copied to must be aligned to, in bytes.
    #[inline]
    #[must_use]
    pub fn align(&self) -> usize {
        self.align
    }
}

/// The objects of one type, up to one of another: see [`StreamReader::objects`].
#[derive(Debug)]
pub struct Objects<'s, 'r, T> {
    stream: &'s StreamReader,
    /// Nothing once it has ended.
    reader: Option<&'r mut Reader>,
    of: PhantomData<fn() -> T>,
}

impl<'s, T: Transportable + 'static> Iterator for Objects<'s, '_, T> {
    type Item = Result<&'s T::InPlace<'s>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_deref_mut()?;
        let object = match self.stream.frame() {
            Ok(None) => None,
            Ok(Some(next)) => (next.descriptor == reader.descriptor_of::<T::InPlace<'static>>())
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
