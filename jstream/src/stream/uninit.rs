//! Values and slices that a producer writes in place, in the buffer of the stream.
//!
//! The memory is part of the message that [`Writer::write`](crate::Writer::write) would produce for
//! the same value. The message becomes part of the stream when it is completed. If the handle is
//! dropped or forgotten instead, the stream is unchanged.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;
use std::slice;

use zerocopy::IntoBytes;

use super::StreamWriter;
use crate::buffer::ALIGNMENT;
use crate::model::Transportable;
use crate::read::Limits;
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, align_up};
use crate::write::{WriteError, Writer, bulk_align};

/// Start and end of the two words (place and length) of a slice in its message.
const WORDS: usize = HEADER_LEN;
const WORDS_END: usize = WORDS + size_of::<[u64; 2]>();
const _: () = assert!(WORDS % align_of::<&[u8]>() == 0 && WORDS_END == WORDS + size_of::<&[u8]>());

/// Asserts that values of the type can be sent as they are in memory.
const fn assert_wire_is_memory<T: Transportable>() {
    assert!(
        T::WIRE_IS_MEMORY,
        "a value of this type can't be written in place: it holds pointers or padding, or \
         is checked by value"
    );
    assert!(
        !std::mem::needs_drop::<T>(),
        "a value that is sent must not need dropping, as it is never dropped"
    );
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "a value that is sent may be aligned to 128 bytes at most"
    );
}

/// Memory for an incomplete message behind the end of a stream.
///
/// Invariant: `start` is where the next message with this alignment begins, and the buffer has
/// capacity for the message of `len` bytes from there.
struct MessagePlace<'s> {
    stream: &'s mut StreamWriter,
    start: usize,
    descriptor: u64,
}

impl<'s> MessagePlace<'s> {
    /// Reserves memory for a message of `len` bytes (`None` if the length overflows) aligned to
    /// `align`.
    fn new(
        stream: &'s mut StreamWriter,
        align: usize,
        len: Option<usize>,
        descriptor: u64,
    ) -> Result<Self, WriteError> {
        let start = stream.next_place(align);
        stream.room_from(start, Some(len.unwrap_or(usize::MAX)))?;
        Ok(Self {
            stream,
            start,
            descriptor,
        })
    }

    /// Returns the address of a byte of the message.
    fn at(&self, offset: usize) -> *mut u8 {
        let start = self.stream.jbuf().base().as_ptr().wrapping_add(self.start);
        start.wrapping_add(offset)
    }

    /// Completes the message.
    ///
    /// # Safety
    ///
    /// Everything but the header must be initialised, with the lengths that the header will state.
    unsafe fn complete(self, objects_end: usize, bulk_align: usize, bulk_len: usize) {
        let header = Header {
            magic: MAGIC,
            bulk_align: u32::try_from(bulk_align).unwrap_or(u32::MAX),
            descriptor: self.descriptor,
            objects_end: objects_end as u64,
            bulk_len: bulk_len as u64,
            text_len: 0,
        };
        let bytes = header.to_bytes();
        // SAFETY: the memory begins with space for a header, in a buffer that is borrowed
        // exclusively.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(0), bytes.len()) };
        let len = align_up(objects_end, bulk_align).wrapping_add(bulk_len);
        // SAFETY: the caller promises that the bytes are initialised, and the next message begins
        // at `start`.
        unsafe { self.stream.commit(self.start, len) };
    }
}

impl StreamWriter {
    /// Reserves an uninitialised value as the next message, for a producer to write in place.
    ///
    /// The type's wire form must be identical to its memory: a number, an array of such types, or a
    /// struct of such types without padding. Other types do not compile.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] if it does not fit, [`WriteError::TooLong`] if the stream would
    /// exceed the writer's limit.
    pub fn uninit_value<'s, T: Transportable>(
        &'s mut self,
        writer: &mut Writer,
    ) -> Result<UninitValue<'s, T>, WriteError> {
        const { assert_wire_is_memory::<T>() };
        let root = align_up(HEADER_LEN, align_of::<T>());
        let len = root.checked_add(size_of::<T>());
        let descriptor = writer.descriptor_of::<T::InPlace<'_>>();
        self.check_bytes(writer.limits(), align_of::<T>(), len)?;
        Ok(UninitValue {
            place: MessagePlace::new(self, align_of::<T>(), len, descriptor)?,
            of: PhantomData,
        })
    }

    /// Reserves an uninitialised slice as the next message. The message has the type `&[T]`, which
    /// is also that of a `Vec<T>`. For types as in [`uninit_value`](Self::uninit_value).
    ///
    /// ```
    /// use jstream::{EmptyBuffer, Reader, StreamReader, StreamWriter, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
    /// let samples = stream.uninit_slice::<f64>(&mut Writer::new(), 100)?;
    /// // The producer has fewer values than the slice can hold.
    /// let written = samples.fill_from((0..60).map(f64::from));
    /// assert_eq!(written, 60);
    ///
    /// let stream = StreamReader::new(stream.finish());
    /// let samples = stream.next::<&[f64]>(&mut Reader::default())?;
    /// assert_eq!((samples.len(), samples[59]), (60, 59.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`uninit_value`](Self::uninit_value), and [`WriteError::Limit`] if there are too many
    /// elements without size.
    pub fn uninit_slice<'s, T: Transportable>(
        &'s mut self,
        writer: &mut Writer,
        len: usize,
    ) -> Result<UninitSlice<'s, T>, WriteError> {
        const { assert_wire_is_memory::<T>() };
        let bytes = len.checked_mul(size_of::<T>());
        let first = first_of::<T>(bytes.unwrap_or(usize::MAX));
        let end = bytes.and_then(|bytes| first.checked_add(bytes));
        let descriptor = writer.descriptor_of::<&[T::InPlace<'_>]>();
        self.check_bytes(writer.limits(), align_of::<T>(), end)?;
        if size_of::<T>() == 0 {
            self.count_zero_sized(writer.limits(), len)?;
        }
        Ok(UninitSlice {
            place: MessagePlace::new(self, align_of::<T>(), end, descriptor)?,
            first,
            len,
            of: PhantomData,
        })
    }
}

impl StreamWriter {
    /// Checks that the stream with a message of `len` bytes keeps to the limit.
    fn check_bytes(
        &self,
        limits: &Limits,
        align: usize,
        len: Option<usize>,
    ) -> Result<(), WriteError> {
        let start = self.next_place(align);
        let end = len.map_or(usize::MAX, |len| start.saturating_add(len));
        if end > limits.bytes && end <= self.capacity() {
            return Err(WriteError::TooLong {
                limit: limits.bytes,
                field: None,
            });
        }
        Ok(())
    }

    /// Counts `count` elements without size.
    fn count_zero_sized(&mut self, limits: &Limits, count: usize) -> Result<(), WriteError> {
        let value = self.zero_sized.saturating_add(count);
        let limit = limits.zero_sized;
        if value > limit {
            let name = "zero_sized";
            return Err(WriteError::Limit { name, value, limit });
        }
        self.zero_sized = value;
        Ok(())
    }
}

/// Returns the offset of the elements of a slice of `bytes` bytes in its message.
fn first_of<T>(bytes: usize) -> usize {
    align_up(WORDS_END, bulk_align(bytes, align_of::<T>()))
}

/// An uninitialised value in the buffer of a stream: see [`StreamWriter::uninit_value`].
#[must_use = "the stream has the value once it is completed"]
pub struct UninitValue<'s, T> {
    place: MessagePlace<'s>,
    of: PhantomData<&'s mut T>,
}

impl<'s, T: Transportable> UninitValue<'s, T> {
    /// Returns the memory of the value.
    pub fn as_uninit_mut(&mut self) -> &mut MaybeUninit<T> {
        // SAFETY: the memory has space for the value. It is aligned for it, as the message's base
        // and the root's offset are, and borrowed exclusively. `MaybeUninit` requires nothing of
        // the bytes.
        unsafe { &mut *self.root().cast() }
    }

    pub(super) fn root(&self) -> *mut u8 {
        self.place.at(align_up(HEADER_LEN, align_of::<T>()))
    }

    /// Writes the value and completes it.
    pub fn write(mut self, value: T) {
        self.as_uninit_mut().write(value);
        // SAFETY: it was just written.
        unsafe { self.assume_init() };
    }

    /// Completes the value.
    ///
    /// # Safety
    ///
    /// The value must have been written.
    pub unsafe fn assume_init(self) {
        let root = align_up(HEADER_LEN, align_of::<T>());
        let gap = root.wrapping_sub(HEADER_LEN);
        // SAFETY: the memory has space for header, gap and value, and is borrowed exclusively.
        unsafe { ptr::write_bytes(self.place.at(HEADER_LEN), 0, gap) };
        // SAFETY: the gap was just zeroed, and all bytes of the value are initialised: the caller
        // wrote it, and `WIRE_IS_MEMORY` ensures that it has no other bytes. The message ends with
        // the value.
        unsafe { self.place.complete(root.wrapping_add(size_of::<T>()), 1, 0) };
    }
}

/// An uninitialised slice in the buffer of a stream: see [`StreamWriter::uninit_slice`].
///
/// Invariant: the message has space for `len` values from `first` on, aligned for them.
#[must_use = "the stream has the slice once it is completed"]
pub struct UninitSlice<'s, T> {
    place: MessagePlace<'s>,
    first: usize,
    pub(super) len: usize,
    of: PhantomData<&'s mut [T]>,
}

impl<'s, T: Transportable> UninitSlice<'s, T> {
    /// Returns the maximum number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the slice has space for no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the memory of the values.
    pub fn as_uninit_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: there is space for `len` values, aligned and borrowed exclusively. `MaybeUninit`
        // requires nothing of the bytes.
        unsafe { slice::from_raw_parts_mut(self.first().cast(), self.len) }
    }

    pub(super) fn first(&self) -> *mut T {
        self.place.at(self.first).cast()
    }

    /// Copies as many of `values` as fit, completes the slice with them, and returns their number.
    pub fn copy_from_slice(mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        let count = values.len().min(self.len);
        let to = self.as_uninit_mut().as_mut_ptr().cast::<T>();
        // SAFETY: `values` has at least `count` values, and the memory has space for them and does
        // not overlap.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to, count) };
        // SAFETY: `count` values were just written.
        unsafe { self.assume_init(count) };
        count
    }

    /// Writes values from an iterator until the slice is full or the iterator ends. Completes the
    /// slice with these values, and returns their number.
    pub fn fill_from(mut self, values: impl IntoIterator<Item = T>) -> usize {
        let mut count = 0usize;
        for (slot, value) in self.as_uninit_mut().iter_mut().zip(values) {
            slot.write(value);
            count = count.wrapping_add(1);
        }
        // SAFETY: `count` values were just written, from the first on.
        unsafe { self.assume_init(count) };
        count
    }

    /// Writes the result of `value` for each index, and completes the slice.
    pub fn fill_with(self, value: impl FnMut(usize) -> T) {
        let len = self.len;
        self.fill_from((0..len).map(value));
    }

    /// Completes the slice with the first `len` values. The memory behind them is not sent.
    ///
    /// # Safety
    ///
    /// The first `len` values must have been written, and `len` must not exceed
    /// [`len()`](Self::len).
    pub unsafe fn assume_init(self, len: usize) {
        debug_assert!(len <= self.len);
        let bytes = len.wrapping_mul(size_of::<T>());
        let align = bulk_align(bytes, align_of::<T>());
        let first = align_up(WORDS_END, align);
        if first != self.first {
            // The values of a short slice begin earlier than those of a long one, as they have less
            // than 512 bytes.
            // SAFETY: this number of bytes was written, and there is space before them, behind the
            // words.
            unsafe { ptr::copy(self.place.at(self.first), self.place.at(first), bytes) };
        }
        let words = [align_up(ORIGIN, align_of::<T>()) as u64, len as u64];
        let (from, to) = (words.as_bytes(), self.place.at(WORDS));
        // SAFETY: the words lie behind the header and before the values, where there is space for
        // them.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        let gap = first.wrapping_sub(WORDS_END);
        // SAFETY: this is the gap between the words and the values.
        unsafe { ptr::write_bytes(self.place.at(WORDS_END), 0, gap) };
        // SAFETY: words and gap were just written, and all bytes of the values are initialised: the
        // caller wrote them, and `WIRE_IS_MEMORY` ensures that they have no other bytes. The
        // message ends with them.
        unsafe { self.place.complete(WORDS_END, align, bytes) };
    }
}

impl<T> fmt::Debug for UninitValue<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UninitValue").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for UninitSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("UninitSlice");
        shown.field("len", &self.len).finish_non_exhaustive()
    }
}
