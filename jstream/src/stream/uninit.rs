//! Values and slices that a producer writes where they are sent from.
//!
//! Their place is in the message that [`Writer::write`](crate::Writer::write) would make of them. The stream
//! has the message once it is completed; it is as before if that never happens, and whether this was
//! dropped or forgotten makes no difference.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;
use std::slice;

use zerocopy::{FromZeros, IntoBytes};

use super::StreamWriter;
use super::init::{InitSlice, InitValue};
use crate::buffer::ALIGNMENT;
use crate::model::Transportable;
use crate::wire::{HEADER_LEN, Header, MAGIC, ORIGIN, align_up};
use crate::write::{WriteError, Writer, bulk_align};

/// Where the words of a slice stand in its message, and where they end.
const WORDS: usize = HEADER_LEN;
const WORDS_END: usize = WORDS + size_of::<[u64; 2]>();
const _: () = assert!(WORDS % align_of::<&[u8]>() == 0 && WORDS_END == WORDS + size_of::<&[u8]>());

/// What must hold of a type whose values in memory are sent as they are.
const fn assert_wire_is_memory<T: Transportable>() {
    assert!(
        T::WIRE_IS_MEMORY,
        "a value of this type can't be written where it is sent from: it holds pointers or padding, or \
         is checked by value"
    );
    assert!(
        !std::mem::needs_drop::<T>(),
        "a value that is sent must not need dropping: nobody would drop it"
    );
    assert!(
        align_of::<T>() <= ALIGNMENT,
        "a value that is sent may be aligned to 128 bytes at most"
    );
}

/// A message that is not one yet, behind the end of a stream.
///
/// Invariant: `start` is where the next message begins that is aligned as this one is, and there is room
/// for the message of `len` bytes.
struct MessagePlace<'s> {
    stream: &'s mut StreamWriter,
    start: usize,
    descriptor: u64,
}

impl<'s> MessagePlace<'s> {
    /// A place for a message of `len` bytes (`None` for more than there can be) aligned to `align`.
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

    /// The address of a byte of the message.
    fn at(&self, offset: usize) -> *mut u8 {
        let start = self.stream.jbuf().base().as_ptr().wrapping_add(self.start);
        start.wrapping_add(offset)
    }

    /// Completes the message.
    ///
    /// # Safety
    ///
    /// All of it but the header must have been initialised, and be as long as the header will say.
    unsafe fn complete(self, objects_end: usize, bulk_align: usize, bulk_len: usize) {
        let header = Header {
            magic: MAGIC,
            bulk_align: u32::try_from(bulk_align).unwrap_or(u32::MAX),
            descriptor: self.descriptor,
            objects_end: objects_end as u64,
            bulk_len: bulk_len as u64,
            text_len: 0,
        };
        let bytes = header.as_bytes();
        // SAFETY: the place has room for a header before all else, in a jbuf that is lent exclusively.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(0), bytes.len()) };
        let len = align_up(objects_end, bulk_align).wrapping_add(bulk_len);
        // SAFETY: the caller's promise, and the place is where the next message begins.
        unsafe { self.stream.commit(self.start, len) };
    }
}

impl StreamWriter {
    /// An uninitialised value inside the jbuf, as the next message, for a producer to write in place. The
    /// type must be one whose wire form is its memory: a number, an array of such, or a struct of such
    /// without padding; else it does not compile.
    ///
    /// # Errors
    ///
    /// [`WriteError::EndOfStream`] when it does not fit.
    pub fn uninit_value<'s, T: Transportable>(
        &'s mut self,
        writer: &mut Writer,
    ) -> Result<UninitValue<'s, T>, WriteError> {
        const { assert_wire_is_memory::<T>() };
        let root = align_up(HEADER_LEN, align_of::<T>());
        let len = root.checked_add(size_of::<T>());
        let descriptor = writer.descriptor_of::<T::InPlace<'_>>();
        Ok(UninitValue {
            place: MessagePlace::new(self, align_of::<T>(), len, descriptor)?,
            of: PhantomData,
        })
    }

    /// An uninitialised slice inside the jbuf, as the next message: that of a `&[T]`, which a `Vec<T>` has
    /// too. Of types as in [`uninit_value`](Self::uninit_value).
    ///
    /// ```
    /// use jstream::{Reader, Spent, StreamReader, StreamWriter, Writer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut stream = StreamWriter::new(Spent::heap(4096));
    /// let samples = stream.uninit_slice::<f64>(&mut Writer::new(), 100)?;
    /// // The producer has fewer values than there is room for.
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
    /// [`WriteError::EndOfStream`] when it does not fit.
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
        Ok(UninitSlice {
            place: MessagePlace::new(self, align_of::<T>(), end, descriptor)?,
            first,
            len,
            of: PhantomData,
        })
    }
}

/// Where the elements of a slice of `bytes` bytes begin in its message.
fn first_of<T>(bytes: usize) -> usize {
    align_up(WORDS_END, bulk_align(bytes, align_of::<T>()))
}

/// A value in a jbuf that was not written yet: see [`StreamWriter::uninit_value`].
#[must_use = "the stream has the value once it is completed"]
pub struct UninitValue<'s, T> {
    place: MessagePlace<'s>,
    of: PhantomData<&'s mut T>,
}

impl<'s, T: Transportable> UninitValue<'s, T> {
    /// Where it is to be written.
    pub fn as_uninit_mut(&mut self) -> &mut MaybeUninit<T> {
        // SAFETY: the place has room for the value; it is aligned for it, as the message's base and the
        // root's place are, and lent exclusively. `MaybeUninit` asks nothing of the bytes.
        unsafe { &mut *self.root().cast() }
    }

    pub(super) fn root(&self) -> *mut u8 {
        self.place.at(align_up(HEADER_LEN, align_of::<T>()))
    }

    /// Completes it with a value.
    pub fn write(mut self, value: T) {
        self.as_uninit_mut().write(value);
        // SAFETY: it was just written.
        unsafe { self.assume_init() };
    }

    /// Fills it with zeroes, to be looked at and changed before it is completed.
    pub fn zeroed(self) -> InitValue<'s, T>
    where
        T: FromZeros,
    {
        // SAFETY: the place has room for the value, and is lent exclusively.
        unsafe { ptr::write_bytes(self.root(), 0, size_of::<T>()) };
        InitValue(self)
    }

    /// Completes it.
    ///
    /// # Safety
    ///
    /// It must have been written.
    pub unsafe fn assume_init(self) {
        let root = align_up(HEADER_LEN, align_of::<T>());
        let gap = root.wrapping_sub(HEADER_LEN);
        // SAFETY: the place has room for header, gap and value, and is lent exclusively.
        unsafe { ptr::write_bytes(self.place.at(HEADER_LEN), 0, gap) };
        // SAFETY: the gap is zero now, and all bytes of the value are initialised: the caller wrote it, and
        // `WIRE_IS_MEMORY` says that it has no others. The message ends with it.
        unsafe { self.place.complete(root.wrapping_add(size_of::<T>()), 1, 0) };
    }
}

/// A slice in a jbuf that was not written yet: see [`StreamWriter::uninit_slice`].
///
/// Invariant: there is room for `len` values from `first` on in the message, aligned for them.
#[must_use = "the stream has the slice once it is completed"]
pub struct UninitSlice<'s, T> {
    place: MessagePlace<'s>,
    first: usize,
    pub(super) len: usize,
    of: PhantomData<&'s mut [T]>,
}

impl<'s, T: Transportable> UninitSlice<'s, T> {
    /// How many values there is room for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is room for none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the values are to be written.
    pub fn as_uninit_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: there is room for so many, aligned, and lent exclusively. `MaybeUninit` asks nothing of
        // the bytes.
        unsafe { slice::from_raw_parts_mut(self.first().cast(), self.len) }
    }

    pub(super) fn first(&self) -> *mut T {
        self.place.at(self.first).cast()
    }

    /// Copies as many values as there are and there is room for, and completes the slice with these; says
    /// how many they are.
    pub fn copy_from_slice(mut self, values: &[T]) -> usize
    where
        T: Copy,
    {
        let count = values.len().min(self.len);
        let to = self.as_uninit_mut().as_mut_ptr().cast::<T>();
        // SAFETY: there are at least so many values, and room for them in memory that nobody else reaches.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to, count) };
        // SAFETY: so many were just written.
        unsafe { self.assume_init(count) };
        count
    }

    /// Writes what `values` yields, up to as many as there is room for, and completes the slice with these;
    /// says how many they are.
    pub fn fill_from(mut self, values: impl IntoIterator<Item = T>) -> usize {
        let mut count = 0usize;
        for (slot, value) in self.as_uninit_mut().iter_mut().zip(values) {
            slot.write(value);
            count = count.wrapping_add(1);
        }
        // SAFETY: so many were just written, from the first on.
        unsafe { self.assume_init(count) };
        count
    }

    /// Writes what `value` returns for each index, and completes the slice.
    pub fn fill_with(self, value: impl FnMut(usize) -> T) {
        let len = self.len;
        self.fill_from((0..len).map(value));
    }

    /// Fills it with zeroes, to be looked at and changed before it is completed.
    pub fn zeroed(self) -> InitSlice<'s, T>
    where
        T: FromZeros,
    {
        // SAFETY: there is room for so many values, lent exclusively.
        unsafe { ptr::write_bytes(self.first(), 0, self.len) };
        InitSlice(self)
    }

    /// Completes it with the first `len` values; what lies behind them is not sent.
    ///
    /// # Safety
    ///
    /// These must have been written, and be no more than there is room for.
    pub unsafe fn assume_init(self, len: usize) {
        debug_assert!(len <= self.len);
        let bytes = len.wrapping_mul(size_of::<T>());
        let align = bulk_align(bytes, align_of::<T>());
        let first = align_up(WORDS_END, align);
        if first != self.first {
            // A short slice begins earlier than a long one. Then it has less than 512 bytes.
            // SAFETY: so many bytes were written, and there is room before them, behind the words.
            unsafe { ptr::copy(self.place.at(self.first), self.place.at(first), bytes) };
        }
        let words = [align_up(ORIGIN, align_of::<T>()) as u64, len as u64];
        let (from, to) = (words.as_bytes(), self.place.at(WORDS));
        // SAFETY: the words stand behind the header and before the values, for which there is room.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        let gap = first.wrapping_sub(WORDS_END);
        // SAFETY: this is what lies between the words and the values.
        unsafe { ptr::write_bytes(self.place.at(WORDS_END), 0, gap) };
        // SAFETY: words and gap were just written, and all bytes of the values are initialised: the caller
        // wrote them, and `WIRE_IS_MEMORY` says that they have no others. The message ends with them.
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
