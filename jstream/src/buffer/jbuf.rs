//! The handles of one slot, by what its bytes are.

use std::fmt;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

use super::{LEAST_ALIGNMENT, Place, Region, Registration, Slot};
use crate::wire::align_up;

/// A jbuf whose bytes mean nothing: ready to be written or received into.
pub struct Spent {
    slot: Slot,
}

impl Spent {
    /// A jbuf on the heap, outside any pool. `capacity` is in bytes.
    ///
    /// # Panics
    ///
    /// When `capacity` exceeds what an allocation can have.
    #[must_use]
    pub fn heap(capacity: usize) -> Self {
        Self {
            slot: Slot::heap(capacity),
        }
    }

    /// As [`heap`](Self::heap), if there is room: for lengths that others say.
    #[cfg(unix)]
    pub(crate) fn try_heap(capacity: usize) -> Option<Self> {
        Slot::try_heap(capacity).map(Self::from_slot)
    }

    #[inline]
    pub(crate) fn from_slot(slot: Slot) -> Self {
        Self { slot }
    }

    /// A part of another jbuf, to be written into as into a jbuf of its own.
    ///
    /// # Safety
    ///
    /// `base` must be aligned to [`LEAST_ALIGNMENT`] and valid for reads and writes of `capacity`
    /// bytes, which nothing else reaches until this handle is dropped. What it becomes must not be
    /// read in place.
    #[inline]
    pub(crate) unsafe fn lent(base: NonNull<u8>, capacity: usize) -> Self {
        debug_assert_eq!(
            align_up(base.addr().get(), LEAST_ALIGNMENT),
            base.addr().get()
        );
        Self {
            // SAFETY: the caller's promise is passed on.
            slot: unsafe { Slot::lent(base, capacity) },
        }
    }

    /// Memory of somebody else, to be received into as into a jbuf. It may be aligned less than jbufs are.
    ///
    /// # Safety
    ///
    /// `base` must be valid for reads and writes of `capacity` bytes, which nothing else reaches until this
    /// handle, and what it becomes, is dropped. It is only to be filled as bytes, by
    /// [`filling`](Self::filling) or [`copy_from`](Self::copy_from), and read as such by
    /// [`Filled::as_bytes`]; where it is filled no more, reads are enough.
    #[inline]
    #[must_use]
    pub unsafe fn over(base: NonNull<u8>, capacity: usize) -> Self {
        Self {
            // SAFETY: the caller promises all but the alignment, which nothing asks for that only fills
            // bytes and reads them.
            slot: unsafe { Slot::lent(base, capacity) },
        }
    }

    /// All of a region as one jbuf, outside any pool. The region is unmapped with it.
    #[must_use]
    pub fn region(region: Region) -> Self {
        Self {
            slot: Slot::region(region),
        }
    }

    /// How many bytes fit.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Where it stands, if it is of a pool.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.slot.place()
    }

    #[inline]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.slot.base()
    }

    /// All its bytes, as the uninitialised memory that they are.
    #[inline]
    #[must_use]
    pub fn uninit_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the slot's memory is valid for `capacity` bytes, exclusively reached through
        // `self`, and `MaybeUninit<u8>` asks nothing of its contents.
        unsafe { slice::from_raw_parts_mut(self.slot.base().as_ptr().cast(), self.slot.capacity()) }
    }

    /// Begins to fill it piece by piece.
    #[inline]
    #[must_use]
    pub fn filling(self) -> Filling {
        Filling {
            slot: self.slot,
            len: 0,
        }
    }

    /// Copies a message in.
    ///
    /// # Errors
    ///
    /// [`Overfull`] gives the jbuf back when `bytes` does not fit.
    pub fn copy_from(self, bytes: &[u8]) -> Result<Filled, Overfull> {
        let mut filling = self.filling();
        if filling.extend(bytes) {
            Ok(filling.finish())
        } else {
            Err(Overfull {
                wanted: bytes.len(),
                spent: filling.abandon(),
            })
        }
    }
}

impl fmt::Debug for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spent")
            .field("capacity", &self.capacity())
            .finish()
    }
}

/// A message did not fit a jbuf.
#[derive(Debug)]
#[non_exhaustive]
pub struct Overfull {
    /// How many bytes were to be stored.
    pub wanted: usize,
    /// The jbuf, unchanged in capacity.
    pub spent: Spent,
}

impl fmt::Display for Overfull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = self.spent.capacity();
        write!(
            f,
            "{} bytes do not fit a jbuf of {has}; take a larger one from the pool",
            self.wanted
        )
    }
}

impl std::error::Error for Overfull {}

/// A jbuf that is being received into.
///
/// Invariant: the first `len` bytes are initialised.
pub struct Filling {
    slot: Slot,
    len: usize,
}

impl Filling {
    /// How many bytes stand in it already.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing stands in it yet.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes fit in all.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// Where it stands, if it is of a pool.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.slot.place()
    }

    /// The bytes that are still free.
    #[inline]
    #[must_use]
    pub fn rest_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        let free = self.slot.capacity().saturating_sub(self.len);
        // SAFETY: `len` is at most `capacity`, so this stays inside the slot.
        let start = unsafe { self.slot.base().add(self.len) };
        // SAFETY: the `free` bytes from there on belong to the slot, which `self` reaches
        // exclusively, and `MaybeUninit<u8>` asks nothing of their contents.
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

    /// Appends a copy of `bytes`; false, and nothing done, when they do not fit.
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
        // SAFETY: those bytes were just written.
        unsafe { self.advance(bytes.len()) };
        true
    }

    /// Drops what lies past the first `len` bytes, if there is any.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The bytes received so far.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, and shared while `self` is borrowed.
        unsafe { slice::from_raw_parts(self.slot.base().as_ptr(), self.len) }
    }

    /// Takes what was received as a message.
    #[inline]
    #[must_use]
    pub fn finish(self) -> Filled {
        Filled {
            slot: self.slot,
            len: self.len,
        }
    }

    /// Gives the jbuf back, forgetting what was received.
    #[inline]
    #[must_use]
    pub fn abandon(self) -> Spent {
        Spent { slot: self.slot }
    }
}

impl fmt::Debug for Filling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filling")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish()
    }
}

/// A jbuf that holds a message in wire form: bytes that nobody has believed yet. It can be read, or sent
/// on as it is.
///
/// Invariant: the first `len` bytes are initialised.
pub struct Filled {
    slot: Slot,
    len: usize,
}

impl Filled {
    /// A message without bytes, in a jbuf without memory: what stands where another is put. It is no
    /// object.
    #[inline]
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            slot: Slot::nowhere(),
            len: 0,
        }
    }

    /// The length of the message in bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the message has no bytes at all.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes fit.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.slot.capacity()
    }

    /// The message's bytes.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, and shared while `self` is borrowed.
        unsafe { slice::from_raw_parts(self.slot.base().as_ptr(), self.len) }
    }

    /// The message's bytes, to change them.
    #[inline]
    #[must_use]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the first `len` bytes are initialised, and exclusive while `self` is borrowed so.
        unsafe { slice::from_raw_parts_mut(self.slot.base().as_ptr(), self.len) }
    }

    /// All of a region, as it is, as one message: what stands in the file that it maps.
    #[must_use]
    pub fn region(region: Region) -> Self {
        let len = region.len();
        Self {
            slot: Slot::region(region),
            len,
        }
    }

    /// Registers the [region](Self::region) that it is all of: see [`Region::register`]. Nothing for other
    /// jbufs; the regions of a pool are registered [there](super::Pool::region).
    #[must_use = "unregisters it when it is dropped"]
    pub fn register(&self) -> Option<Registration> {
        self.slot.register()
    }

    /// Where it stands, if it is of a pool.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.slot.place()
    }

    /// Drops what lies past the first `len` bytes, if there is any.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Gives the jbuf back, forgetting the message.
    #[inline]
    #[must_use]
    pub fn into_spent(self) -> Spent {
        Spent { slot: self.slot }
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
    /// The first `len` bytes of `spent` must be initialised.
    #[inline]
    pub(crate) unsafe fn from_spent(spent: Spent, len: usize) -> Self {
        debug_assert!(len <= spent.capacity());
        Self {
            slot: spent.slot,
            len,
        }
    }
}

impl fmt::Debug for Filled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filled")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_a_message() {
        let mut filling = Spent::heap(8).filling();
        assert!(filling.is_empty());
        assert!(filling.extend(b"abc"));
        assert!(!filling.extend(b"too long"));
        assert!(filling.extend(b"defgh"));
        assert_eq!(filling.as_bytes(), b"abcdefgh");
        filling.truncate(4);
        let filled = filling.finish();
        assert_eq!(filled.as_bytes(), b"abcd");
        assert_eq!(filled.capacity(), 8);
        assert_eq!(filled.into_spent().capacity(), 8);
    }

    #[test]
    fn what_does_not_fit_gives_the_jbuf_back() {
        let overfull = Spent::heap(2).copy_from(b"abc").unwrap_err();
        assert_eq!(overfull.wanted, 3);
        assert_eq!(overfull.spent.capacity(), 2);
        assert!(overfull.to_string().contains("3 bytes"));
    }

    #[test]
    fn an_empty_jbuf_holds_an_empty_message() {
        let filled = Spent::heap(0).copy_from(b"").unwrap();
        assert!(filled.is_empty());
        assert_eq!(filled.as_bytes(), b"");
    }
}
