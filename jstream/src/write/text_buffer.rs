//! The bytes of the text segment that are gathered while a message is written.

use std::mem;
use std::ptr;
use std::slice;

use super::append::copy;
use crate::keep::clear_after;

/// Text that is gathered in memory of the writer, or at its final place in the buffer of the
/// message.
///
/// Invariant: unless the buffer is closed, `start` is valid for reads and writes of `over - 1`
/// bytes, which are the memory of `own` or were lent by the caller of [`begin_at`](Self::begin_at).
/// The first `len` of them are initialised. Within [`reserve`](Self::reserve) and
/// [`clear`](Self::clear) it does not hold; if they panic, the buffer is cleared before it is used
/// again.
#[derive(Debug)]
pub(super) struct TextBuffer {
    start: *mut u8,
    len: usize,
    /// The capacity plus 1. If it is 0, the buffer is closed: it is empty, and has no room for an
    /// empty string either.
    over: usize,
    /// True if `start` is in memory that was lent. A comparison of addresses could not tell,
    /// because lent memory without room may end where the writer's begins.
    is_lent: bool,
    /// The writer's memory. Its length as a vector is 0 between two calls.
    own: Vec<u8>,
}

impl TextBuffer {
    pub(super) const fn new() -> Self {
        Self {
            start: ptr::dangling_mut(),
            len: 0,
            over: 1,
            is_lent: false,
            own: Vec::new(),
        }
    }

    /// Returns a buffer that is closed.
    pub(super) const fn closed() -> Self {
        Self {
            start: ptr::dangling_mut(),
            len: 0,
            over: 0,
            is_lent: false,
            own: Vec::new(),
        }
    }

    /// Begins to gather text in `capacity` bytes at `start`. The buffer must be empty.
    ///
    /// # Safety
    ///
    /// These bytes must be valid for reads and writes, and nothing else may access them, until
    /// [`leave`](Self::leave) or [`clear`](Self::clear) is called.
    #[inline(always)]
    pub(super) unsafe fn begin_at(&mut self, start: *mut u8, capacity: usize) {
        debug_assert!(self.len == 0);
        self.start = start;
        self.over = capacity.wrapping_add(1);
        self.is_lent = true;
    }

    /// Returns true if the text is where [`begin_at`](Self::begin_at) has put it.
    #[inline(always)]
    pub(super) fn is_lent(&self) -> bool {
        self.is_lent
    }

    /// Empties the buffer, and returns to the writer's memory.
    #[inline(always)]
    pub(super) fn use_own_memory(&mut self) {
        self.len = 0;
        self.start = self.own.as_mut_ptr();
        self.over = self.own.capacity().wrapping_add(1);
        self.is_lent = false;
    }

    /// Empties the buffer, whose text must not be lent.
    #[inline(always)]
    pub(super) fn empty(&mut self) {
        debug_assert!(!self.is_lent);
        self.len = 0;
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is room for `len` bytes.
    #[inline(always)]
    pub(super) fn has_room(&self, len: usize) -> bool {
        len < self.over.wrapping_sub(self.len)
    }

    /// Returns the capacity of the writer's memory.
    pub(super) fn own_capacity(&self) -> usize {
        self.own.capacity()
    }

    #[inline(always)]
    pub(super) fn as_bytes(&self) -> &[u8] {
        // SAFETY: the first `len` bytes are initialised, and nothing writes to them while the
        // buffer is borrowed.
        unsafe { slice::from_raw_parts(self.start, self.len) }
    }

    /// Appends text. Short text is copied without a function call.
    ///
    /// # Safety
    ///
    /// The buffer must [have room](Self::has_room) for the text, which must not overlap this room.
    #[inline(always)]
    pub(super) unsafe fn append_within(&mut self, text: &[u8]) {
        let end = self.start.wrapping_add(self.len);
        // SAFETY: the caller guarantees room for these bytes from the end on, without overlap.
        unsafe { copy(text.as_ptr(), end, text.len()) };
        self.len = self.len.wrapping_add(text.len());
    }

    /// Appends one byte. Returns false if there is no room.
    #[inline(always)]
    #[must_use]
    pub(super) fn push_within(&mut self, byte: u8) -> bool {
        if !self.has_room(1) {
            return false;
        }
        // SAFETY: there is room for the byte.
        unsafe { self.start.wrapping_add(self.len).write(byte) };
        self.len = self.len.wrapping_add(1);
        true
    }

    /// Makes room for `more` bytes in the writer's memory. Moves the text there.
    #[cold]
    pub(super) fn reserve(&mut self, more: usize) {
        let mut own = mem::take(&mut self.own);
        if self.is_lent {
            own.extend_from_slice(self.as_bytes());
        } else {
            // SAFETY: the text is in the vector's memory, so its first `len` bytes are initialised.
            unsafe { own.set_len(self.len) };
        }
        own.reserve(more);
        let len = own.len();
        own.clear();
        self.own = own;
        self.use_own_memory();
        self.len = len;
    }

    /// Empties the buffer. Releases memory of its own beyond `most` bytes that the text did not
    /// need.
    #[inline]
    pub(super) fn clear(&mut self, most: usize) {
        clear_after(&mut self.own, most, self.len);
        self.use_own_memory();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_moves_to_own_memory() {
        let mut place = [0u8; 8];
        let mut text = TextBuffer::new();
        assert!(text.has_room(0) && !text.push_within(1));
        assert!(!TextBuffer::closed().has_room(0));
        for _ in 0..3 {
            // SAFETY: the place is not used until the buffer has left it.
            unsafe { text.begin_at(place.as_mut_ptr(), place.len()) };
            assert!(text.push_within(b'a') && text.is_lent());
            // SAFETY: there is room for 7 bytes.
            unsafe { text.append_within(b"bcdefgh") };
            assert!(text.has_room(0) && !text.push_within(b'i'));
            text.reserve(1);
            assert!(text.push_within(b'i') && !text.is_lent());
            text.reserve(1000);
            assert_eq!(text.as_bytes(), b"abcdefghi");
            text.clear(usize::MAX);
            assert!(text.len() == 0 && text.own_capacity() >= 1000);
        }
        assert_eq!(&place, b"abcdefgh");
        text.clear(10);
        assert!(text.own_capacity() < 1000);
    }
}
