//! Objects one after another into one jbuf.

use std::ptr;
use std::slice;

use zerocopy::IntoBytes;

use super::framing::{Padding, place};
use super::reader::Unread;
use crate::buffer::{Filled, LEAST_ALIGNMENT, Spent};
use crate::model::Transportable;
use crate::write::{WriteError, Writer};

/// Writes any number of objects and plain values, of any types, one after another into a jbuf.
///
/// Each is written straight to its place. The [`Writer`] may be another each time.
///
/// Invariant: the first `end` bytes of the jbuf are initialised; they are a stream.
#[derive(Debug)]
pub struct StreamWriter {
    jbuf: Spent,
    end: usize,
}

impl StreamWriter {
    /// An empty stream in `into`.
    #[must_use]
    pub fn new(into: Spent) -> Self {
        Self { jbuf: into, end: 0 }
    }

    /// Writes `value`, and all that it reaches, behind what was written before.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] when it does not fit, else as for [`Writer::write`]. What was written
    /// before is as it was, and something smaller may fit.
    pub fn write<T: Transportable>(
        &mut self,
        writer: &mut Writer,
        value: &T,
    ) -> Result<(), WriteError> {
        match self.write_at(writer, value, LEAST_ALIGNMENT) {
            // Only writing finds all forms that it meets, and this is rare.
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
        let start = place(self.end, align);
        let room = self.room_from(start, None).map_err(Unplaced::Error)?;
        // SAFETY: there is room from `start` on, which is at most the capacity.
        let base = unsafe { self.jbuf.base().add(start) };
        // SAFETY: a jbuf is aligned to 128, and `start` a multiple of 16; the stream reaches its jbuf
        // not before this handle, or what comes of it, is dropped below. Neither is read in place.
        let rest = unsafe { Spent::lent(base, room) };
        let len = match writer.write(value, rest) {
            Ok(filled) => filled.len(),
            Err(unwritten) if unwritten.misaligned => return Err(Unplaced::Misaligned),
            Err(unwritten) => return Err(Unplaced::Error(unwritten.error)),
        };
        // SAFETY: the writer initialised so many bytes from `start` on.
        unsafe { self.commit(start, len) };
        Ok(())
    }

    /// Appends an item of another stream as it is, unread.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] when it does not fit.
    pub fn forward(&mut self, item: &Unread<'_>) -> Result<(), WriteError> {
        let bytes = item.as_bytes();
        let start = place(self.end, item.align());
        self.room_from(start, Some(bytes.len()))?;
        let to = self.jbuf.base().as_ptr().wrapping_add(start);
        // SAFETY: there is room for all bytes from `start` on, in a jbuf that nobody else reaches, so
        // these are others.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        // SAFETY: these bytes were just written.
        unsafe { self.commit(start, bytes.len()) };
        Ok(())
    }

    /// How many bytes there are from `start` on: at least `needed`, or it is an error.
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

    /// Makes the `len` bytes at `start`, to which padding leads, the last item.
    ///
    /// # Safety
    ///
    /// These bytes must be initialised, lie behind the end and inside the jbuf, and be a message; and
    /// `start` what [`place`] returned for the stream's end.
    #[inline]
    pub(super) unsafe fn commit(&mut self, start: usize, len: usize) {
        let gap = start.wrapping_sub(self.end);
        let base = self.jbuf.base().as_ptr();
        // SAFETY: the bytes between the end and the item lie inside the jbuf, which the stream owns.
        unsafe { ptr::write_bytes(base.wrapping_add(self.end), 0, gap) };
        let padded = place(self.end, LEAST_ALIGNMENT);
        if let Some(padding) = Padding::of(start.wrapping_sub(padded)) {
            let (bytes, to) = (padding.as_bytes(), base.wrapping_add(padded));
            // SAFETY: padding is at least 16 bytes long, and was just made room for.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        }
        self.end = start.wrapping_add(len);
    }

    /// The jbuf.
    #[inline]
    pub(super) fn jbuf(&self) -> &Spent {
        &self.jbuf
    }

    /// Where the next message begins if it needs this alignment.
    #[inline]
    pub(super) fn next_place(&self, align: usize) -> usize {
        place(self.end, align)
    }

    /// How many bytes the next message may have, unless it has a form that is aligned to more than 16.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        let start = place(self.end, LEAST_ALIGNMENT);
        self.jbuf.capacity().saturating_sub(start)
    }

    /// How many bytes were written.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.end
    }

    /// Whether nothing was written.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// How many bytes fit in all.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.jbuf.capacity()
    }

    /// What was written so far.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are initialised, and nothing writes to them while the stream is lent.
        unsafe { slice::from_raw_parts(self.jbuf.base().as_ptr(), self.end) }
    }

    /// Begins anew: everything written is forgotten, the jbuf stays.
    #[inline]
    pub fn clear(&mut self) {
        self.end = 0;
    }

    /// The stream as a jbuf to be sent, stored or read.
    #[inline]
    #[must_use]
    pub fn finish(self) -> Filled {
        // SAFETY: so many bytes are initialised.
        unsafe { Filled::from_spent(self.jbuf, self.end) }
    }

    /// Gives the jbuf back, forgetting what was written.
    #[inline]
    #[must_use]
    pub fn into_spent(self) -> Spent {
        self.jbuf
    }
}

/// Why a message was not written at a place.
enum Unplaced {
    /// A form needs a place that is aligned to more.
    Misaligned,
    Error(WriteError),
}
