//! The handles of a slot. The type of a handle states what the bytes of the slot are.

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

use super::{ALIGNMENT, Keeper, LEAST_ALIGNMENT, Place, Region, Registration, Slot};
use crate::wire::align_up;

/// A buffer whose bytes have no meaning, ready to be written or received into.
pub struct EmptyBuffer {
    slot: Slot,
}

impl EmptyBuffer {
    /// Allocates a buffer of `capacity` bytes on the heap, outside any pool.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` exceeds the maximum size of an allocation.
    #[must_use]
    pub fn heap(capacity: usize) -> Self {
        Self {
            slot: Slot::heap(capacity),
        }
    }

    /// Like [`heap`](Self::heap), but returns `None` if memory is short. For lengths that a peer or
    /// a file states.
    #[cfg(all(feature = "file", unix))]
    pub(crate) fn try_heap(capacity: usize) -> Option<Self> {
        Slot::try_heap(capacity).map(Self::from_slot)
    }

    #[inline]
    pub(crate) fn from_slot(slot: Slot) -> Self {
        Self { slot }
    }

    /// Returns memory of the caller as a buffer to receive into. The memory may be aligned less
    /// than other buffers.
    ///
    /// # Safety
    ///
    /// `base` must be valid for reads and writes of `capacity` bytes, which nothing else accesses
    /// until this handle, and any handle that it is converted to, is dropped. The caller must fill
    /// it only as bytes, with [`writer`](Self::writer) or [`copy_from`](Self::copy_from), and must
    /// read it only with [`MessageBuffer::as_bytes`]. Memory that is no longer filled needs to be
    /// valid only for reads.
    #[inline]
    #[must_use]
    pub unsafe fn over(base: NonNull<u8>, capacity: usize) -> Self {
        Self {
            // SAFETY: the caller promises everything except the alignment, which filling and
            // reading plain bytes does not require.
            slot: unsafe { Slot::lent(base, capacity) },
        }
    }

    /// Returns a whole region as one buffer, outside any pool. Dropping the buffer unmaps the
    /// region.
    #[must_use]
    pub fn region(region: Region) -> Self {
        Self {
            slot: Slot::region(region),
        }
    }

    /// Returns the capacity in bytes.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Returns the region and offset of the buffer, if it belongs to a pool.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.slot.place()
    }

    #[inline]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.slot.base()
    }

    /// Returns all bytes of the buffer as uninitialised memory.
    #[inline]
    #[must_use]
    pub fn uninit_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the slot's memory is valid for `capacity` bytes and reached only through `self`,
        // which is borrowed exclusively. `MaybeUninit<u8>` has no requirement on its contents.
        unsafe { slice::from_raw_parts_mut(self.slot.base().as_ptr().cast(), self.slot.capacity()) }
    }

    /// Returns the memory of the buffer, to write a message into it.
    #[inline]
    pub(crate) fn space(&mut self) -> Space<'_> {
        Space {
            base: self.slot.base(),
            capacity: self.slot.capacity(),
            of: PhantomData,
        }
    }

    /// Begins to fill the buffer piece by piece.
    #[inline]
    #[must_use]
    pub fn writer(self) -> BufferWriter {
        BufferWriter {
            slot: self.slot,
            len: 0,
        }
    }

    /// Copies a message into the buffer.
    ///
    /// # Errors
    ///
    /// Returns [`Overfull`], which contains the buffer, if `bytes` does not fit.
    pub fn copy_from(self, bytes: &[u8]) -> Result<MessageBuffer, Overfull> {
        let mut filling = self.writer();
        if filling.extend(bytes) {
            Ok(filling.finish())
        } else {
            Err(Overfull {
                wanted: bytes.len(),
                buffer: filling.abandon(),
            })
        }
    }
}

impl fmt::Debug for EmptyBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmptyBuffer")
            .field("capacity", &self.capacity())
            .finish()
    }
}

/// Memory of a buffer that a message is written into. Two words, which are passed in registers.
///
/// Invariant: `base` is aligned to [`LEAST_ALIGNMENT`] and valid for reads and writes of `capacity`
/// bytes, which nothing else accesses during `'b`.
#[derive(Debug)]
pub(crate) struct Space<'b> {
    base: NonNull<u8>,
    capacity: usize,
    of: PhantomData<&'b mut [MaybeUninit<u8>]>,
}

impl Space<'_> {
    /// Returns `capacity` bytes at `base`.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`LEAST_ALIGNMENT`] and valid for reads and writes of `capacity`
    /// bytes, which nothing else accesses as long as the result is used.
    #[inline]
    pub(crate) unsafe fn new(base: NonNull<u8>, capacity: usize) -> Self {
        debug_assert_eq!(
            align_up(base.addr().get(), LEAST_ALIGNMENT),
            base.addr().get()
        );
        Self {
            base,
            capacity,
            of: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }
}

/// A message did not fit into a buffer.
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub struct Overfull {
    /// Length of the message in bytes.
    pub wanted: usize,
    /// The buffer, with unchanged capacity.
    pub buffer: EmptyBuffer,
}

impl fmt::Display for Overfull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = self.buffer.capacity();
        write!(
            f,
            "{} bytes do not fit into a buffer of {has} bytes; take a larger one from the pool",
            self.wanted
        )
    }
}

impl std::error::Error for Overfull {}

/// A buffer that is being filled.
///
/// Invariant: the first `len` bytes are initialised.
pub struct BufferWriter {
    slot: Slot,
    len: usize,
}

impl BufferWriter {
    /// Returns the number of bytes received so far.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if nothing has been received yet.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the total capacity in bytes.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Returns the region and offset of the buffer, if it belongs to a pool.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.slot.place()
    }

    /// Returns the bytes that are still free.
    #[inline]
    #[must_use]
    pub fn rest_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        let free = self.slot.capacity().saturating_sub(self.len);
        // SAFETY: `len` is at most `capacity`, so this stays inside the slot.
        let start = unsafe { self.slot.base().add(self.len) };
        // SAFETY: the next `free` bytes belong to the slot, which is reached only through `self`,
        // which is borrowed exclusively. `MaybeUninit<u8>` has no requirement on its contents.
        unsafe { slice::from_raw_parts_mut(start.as_ptr().cast(), free) }
    }

    /// Counts `n` more bytes as received.
    ///
    /// # Safety
    ///
    /// The first `n` bytes of [`rest_mut`](Self::rest_mut) must have been initialised.
    #[inline]
    pub unsafe fn advance(&mut self, n: usize) {
        debug_assert!(n <= self.slot.capacity().saturating_sub(self.len));
        self.len = self.len.wrapping_add(n);
    }

    /// Appends a copy of `bytes`. Returns false, and changes nothing, if they do not fit.
    #[inline]
    #[must_use]
    pub fn extend(&mut self, bytes: &[u8]) -> bool {
        let Some(rest) = self.rest_mut().get_mut(..bytes.len()) else {
            return false;
        };
        let from = bytes.as_ptr().cast::<MaybeUninit<u8>>();
        // SAFETY: `rest` is exclusive and as long as `bytes`; initialised bytes are also
        // `MaybeUninit` bytes.
        unsafe { std::ptr::copy_nonoverlapping(from, rest.as_mut_ptr(), bytes.len()) };
        // SAFETY: the bytes were written above.
        unsafe { self.advance(bytes.len()) };
        true
    }

    /// Appends values of `N` bytes. Returns false if they do not fit.
    #[cfg(feature = "evolve")]
    #[inline]
    pub(crate) fn extend_values<const N: usize>(
        &mut self,
        values: impl ExactSizeIterator<Item = [u8; N]>,
    ) -> bool {
        let len = values.len().saturating_mul(N);
        let Some(rest) = self.rest_mut().get_mut(..len) else {
            return false;
        };
        let mut written = 0usize;
        for (place, value) in rest.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value.map(MaybeUninit::new));
            written = written.wrapping_add(N);
        }
        // SAFETY: so many bytes were written from the start on, in chunks of `rest`.
        unsafe { self.advance(written) };
        written == len
    }

    /// Discards everything after the first `len` bytes.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Returns the bytes received so far.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, and nothing writes to them while `self` is
        // borrowed.
        unsafe { slice::from_raw_parts(self.slot.base().as_ptr(), self.len) }
    }

    /// Ends filling. The received bytes become the message.
    #[inline]
    #[must_use]
    pub fn finish(self) -> MessageBuffer {
        MessageBuffer {
            slot: self.slot,
            len: self.len,
        }
    }

    /// Discards the received bytes and returns the empty buffer.
    #[inline]
    #[must_use]
    pub fn abandon(self) -> EmptyBuffer {
        EmptyBuffer { slot: self.slot }
    }
}

impl fmt::Debug for BufferWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferWriter")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish()
    }
}

/// A buffer that holds a message in wire form, whose bytes have not been checked yet. The message
/// can be read, or forwarded unchanged.
///
/// Invariant: the first `len` bytes are initialised.
pub struct MessageBuffer {
    slot: Slot,
    len: usize,
}

impl MessageBuffer {
    /// Returns an empty message in a buffer without memory, as a placeholder. It cannot be read as
    /// an object.
    #[inline]
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            slot: Slot::nowhere(),
            len: 0,
        }
    }

    /// Returns the length of the message in bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the message has no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the capacity in bytes.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Returns the bytes of the message.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, and nothing writes to them while `self` is
        // borrowed.
        unsafe { slice::from_raw_parts(self.slot.base().as_ptr(), self.len) }
    }

    /// Returns the bytes of the message for modification.
    #[inline]
    #[must_use]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the first `len` bytes are initialised, and nothing else accesses them while
        // `self` is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.slot.base().as_ptr(), self.len) }
    }

    /// Returns the unchanged contents of a region as one message, for example those of the file
    /// that it maps.
    #[must_use]
    pub fn region(region: Region) -> Self {
        let len = region.len();
        Self {
            slot: Slot::region(region),
            len,
        }
    }

    /// Registers the region of a buffer that was made by [`region`](Self::region): see
    /// [`Region::register`]. Returns `None` for other buffers. The regions of a pool are
    /// [registered individually](super::Pool::region).
    #[must_use = "unregisters it when it is dropped"]
    pub fn register(&self) -> Option<Registration> {
        self.slot.register()
    }

    /// Returns the region and offset of the buffer, if it belongs to a pool.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.slot.place()
    }

    /// Discards everything after the first `len` bytes.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Discards the message and returns the empty buffer.
    #[inline]
    #[must_use]
    pub fn into_empty(self) -> EmptyBuffer {
        EmptyBuffer { slot: self.slot }
    }

    #[inline]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.slot.base()
    }

    #[inline]
    pub(crate) fn into_slot(self) -> Slot {
        self.slot
    }

    /// # Safety
    ///
    /// The first `len` bytes of `empty` must be initialised.
    #[inline]
    pub(crate) unsafe fn from_empty(empty: EmptyBuffer, len: usize) -> Self {
        debug_assert!(len <= empty.capacity());
        Self {
            slot: empty.slot,
            len,
        }
    }
}

impl fmt::Debug for MessageBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageBuffer")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish()
    }
}

impl EmptyBuffer {
    /// Returns a part of the memory of `keeper` as a buffer. Dropping the buffer returns `number`
    /// to the keeper.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`ALIGNMENT`], and valid for reads and writes of `capacity` bytes
    /// until the keeper gets `number` back. Until then nothing else may access those bytes, in this
    /// process or another.
    ///
    /// # Panics
    ///
    /// Panics in debug builds if `base` is not aligned.
    #[inline]
    #[must_use]
    pub unsafe fn kept(
        base: NonNull<u8>,
        capacity: usize,
        keeper: Arc<Keeper>,
        number: u32,
    ) -> Self {
        debug_assert_eq!(base.addr().get() & (ALIGNMENT - 1), 0);
        // SAFETY: the caller's promise is passed on.
        Self::from_slot(unsafe { Slot::kept(base, capacity, keeper, number) })
    }
}

impl MessageBuffer {
    /// Takes the number of a buffer that `keeper` has lent. The number is not returned to the
    /// keeper: the caller owns it.
    ///
    /// # Errors
    ///
    /// Returns the buffer if it does not belong to `keeper`.
    #[inline]
    pub fn into_kept(self, keeper: &Arc<Keeper>) -> Result<u32, Self> {
        let len = self.len();
        match self.into_slot().into_kept(keeper) {
            Ok(number) => Ok(number),
            // SAFETY: the slot is the unchanged slot of the message.
            Err(slot) => Err(unsafe { Self::from_empty(EmptyBuffer::from_slot(slot), len) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_a_message() {
        let mut filling = EmptyBuffer::heap(8).writer();
        assert!(filling.is_empty());
        assert!(filling.extend(b"abc"));
        assert!(!filling.extend(b"too long"));
        assert!(filling.extend(b"defgh"));
        assert_eq!(filling.as_bytes(), b"abcdefgh");
        filling.truncate(4);
        let filled = filling.finish();
        assert_eq!(filled.as_bytes(), b"abcd");
        assert_eq!(filled.capacity(), 8);
        assert_eq!(filled.into_empty().capacity(), 8);
    }

    #[test]
    fn returns_the_jbuf_if_the_message_does_not_fit() {
        let overfull = EmptyBuffer::heap(2).copy_from(b"abc").unwrap_err();
        assert_eq!(overfull.wanted, 3);
        assert_eq!(overfull.buffer.capacity(), 2);
        assert!(overfull.to_string().contains("3 bytes"));
    }

    #[test]
    fn an_empty_jbuf_holds_an_empty_message() {
        let filled = EmptyBuffer::heap(0).copy_from(b"").unwrap();
        assert!(filled.is_empty());
        assert_eq!(filled.as_bytes(), b"");
    }
}
