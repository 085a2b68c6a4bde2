//! Writing objects one after another into one buffer.
//!
//! Decision 047 has the reasons.

use std::ptr;
use std::slice;

use super::framing::{Padding, aligned};
use super::reader::Unread;
use crate::buffer::{EmptyBuffer, LEAST_ALIGNMENT, MessageBuffer, Space};
use crate::model::Transportable;
use crate::write::{WriteError, Writer};

/// Writes any number of objects and plain values, of any types, one after another into a buffer.
///
/// Each item is written in place. Each call can use a different [`Writer`].
///
/// Invariant: the first `end` bytes of the buffer are initialised, and are a valid stream.
#[derive(Debug)]
pub struct StreamWriter {
    jbuf: EmptyBuffer,
    end: usize,
    /// Number of zero-sized elements in all items, as a limit counts them.
    pub(super) zero_sized: usize,
}

impl StreamWriter {
    /// Returns an empty stream in the buffer `into`.
    #[must_use]
    pub fn new(into: EmptyBuffer) -> Self {
        Self {
            jbuf: into,
            end: 0,
            zero_sized: 0,
        }
    }

    /// Appends `value` and everything that it reaches. The writer's limits of bytes and of
    /// zero-sized elements apply to the stream as a whole.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] if it does not fit, [`WriteError::TooLong`] if the stream would
    /// exceed the writer's limit; otherwise as for [`Writer::write`]. The stream is then unchanged,
    /// and a smaller item may still fit.
    pub fn write<T: Transportable>(
        &mut self,
        writer: &mut Writer,
        value: &T,
    ) -> Result<(), WriteError> {
        match self.write_at(writer, value, LEAST_ALIGNMENT) {
            // The alignments of all forms are known only after writing. Large ones are rare, so the
            // message is written again.
            Err(Unplaced::Misaligned) => self
                .write_at(writer, value, crate::buffer::ALIGNMENT)
                .map_err(|unplaced| match unplaced {
                    Unplaced::Error(error) => error,
                    Unplaced::Misaligned => unreachable!("no form is aligned to more"),
                }),
            Err(Unplaced::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        }
    }

    fn write_at<T: Transportable>(
        &mut self,
        writer: &mut Writer,
        value: &T,
        align: usize,
    ) -> Result<(), Unplaced> {
        let start = aligned(self.end, align);
        let room = self.room_from(start, None).map_err(Unplaced::Error)?;
        // SAFETY: `start` is at most the capacity.
        let base = unsafe { self.jbuf.base().add(start) };
        // SAFETY: a buffer is aligned to 128, and `start` is a multiple of 16. The stream does not
        // access its buffer before the message has been written.
        let space = unsafe { Space::new(base, room) };
        let len = match writer.write_item(value, space, start, &mut self.zero_sized) {
            Ok(len) => len,
            Err(unwritten) if unwritten.misaligned => return Err(Unplaced::Misaligned),
            Err(unwritten) => return Err(Unplaced::Error(unwritten.error)),
        };
        // SAFETY: the writer initialised `len` bytes from `start` on.
        unsafe { self.commit(start, len) };
        Ok(())
    }

    /// Appends an item of another stream without reading it.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] if it does not fit.
    pub fn forward(&mut self, item: &Unread<'_>) -> Result<(), WriteError> {
        let bytes = item.as_bytes();
        let start = aligned(self.end, item.align());
        self.room_from(start, Some(bytes.len()))?;
        let to = self.jbuf.base().as_ptr().wrapping_add(start);
        // SAFETY: there is space for all bytes from `start` on, in a buffer that nothing else
        // reaches, so the ranges do not overlap.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        // SAFETY: these bytes were just written.
        unsafe { self.commit(start, bytes.len()) };
        Ok(())
    }

    /// Returns the number of bytes from `start` on, or an error if it is less than `needed`.
    #[inline]
    pub(super) fn room_from(
        &self,
        start: usize,
        needed: Option<usize>,
    ) -> Result<usize, WriteError> {
        let room = self.jbuf.capacity().checked_sub(start);
        room.filter(|room| needed.is_none_or(|needed| needed <= *room))
            .ok_or(WriteError::EndOfStream {
                capacity: room.unwrap_or(0),
                needed,
            })
    }

    /// Makes the `len` bytes at `start` the last item, and writes the padding before it.
    ///
    /// # Safety
    ///
    /// These bytes must be initialised, lie behind the end and inside the buffer, and be a message.
    /// `start` must be the result of [`place`] for the stream's end.
    #[inline]
    pub(super) unsafe fn commit(&mut self, start: usize, len: usize) {
        let gap = start.wrapping_sub(self.end);
        let base = self.jbuf.base().as_ptr();
        // SAFETY: the bytes between the end and the item lie inside the buffer, which the stream
        // owns.
        unsafe { ptr::write_bytes(base.wrapping_add(self.end), 0, gap) };
        let padded = aligned(self.end, LEAST_ALIGNMENT);
        if let Some(padding) = Padding::new(start.wrapping_sub(padded)) {
            let (bytes, to) = (padding.to_bytes(), base.wrapping_add(padded));
            // SAFETY: padding has at least 16 bytes, all of them before the item.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
        self.end = start.wrapping_add(len);
    }

    /// Returns the buffer.
    #[inline]
    pub(super) fn jbuf(&self) -> &EmptyBuffer {
        &self.jbuf
    }

    /// Returns the start of the next message with this alignment.
    #[inline]
    pub(super) fn next_place(&self, align: usize) -> usize {
        aligned(self.end, align)
    }

    /// Returns the maximum length in bytes of the next message, if none of its forms is aligned to
    /// more than 16.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        let start = aligned(self.end, LEAST_ALIGNMENT);
        self.jbuf.capacity().saturating_sub(start)
    }

    /// Returns the number of bytes written.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.end
    }

    /// Returns true if nothing was written.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// Returns the total capacity in bytes.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.jbuf.capacity()
    }

    /// Returns the stream as written so far.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `end` bytes are initialised, and nothing writes to them while the
        // stream is borrowed.
        unsafe { slice::from_raw_parts(self.jbuf.base().as_ptr(), self.end) }
    }

    /// Discards all items and keeps the buffer.
    #[inline]
    pub fn clear(&mut self) {
        self.end = 0;
        self.zero_sized = 0;
    }

    /// Returns the stream as a filled buffer, to be sent, stored or read.
    #[inline]
    #[must_use]
    pub fn finish(self) -> MessageBuffer {
        // SAFETY: the first `end` bytes are initialised.
        unsafe { MessageBuffer::from_empty(self.jbuf, self.end) }
    }

    /// Returns the buffer, and discards the items.
    #[inline]
    #[must_use]
    pub fn into_empty(self) -> EmptyBuffer {
        self.jbuf
    }
}

/// Reason why a message was not written at an offset.
enum Unplaced {
    /// A form needs a larger alignment.
    Misaligned,
    Error(WriteError),
}
