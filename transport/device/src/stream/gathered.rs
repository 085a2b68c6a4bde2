//! Buffer for small outgoing messages, which are sent together in one call.
//!
//! Decision 019 has the reasons.

use std::io::IoSlice;

use jstream::buffer::{BufferWriter, EmptyBuffer};

/// Initial capacity in bytes. It is small because most connections never have much to send at once.
const FIRST: usize = 512;

/// Bytes to be sent.
///
/// Invariant: `sent` and `start` are at most the number of bytes.
pub(super) struct Gathered {
    bytes: BufferWriter,
    /// Maximum number of bytes.
    most: usize,
    /// Number of bytes that the wire has accepted.
    sent: usize,
    /// Start of the message that is being sent. If there is none, the number of bytes.
    start: usize,
}

impl Gathered {
    /// Creates a buffer for up to `most` bytes. Memory is allocated as needed.
    pub(super) fn new(most: usize) -> Self {
        Self {
            bytes: EmptyBuffer::heap(most.min(FIRST)).writer(),
            most,
            sent: 0,
            start: 0,
        }
    }

    /// Appends the message that is being sent. Returns false if there is no room for it.
    #[inline]
    pub(super) fn append(&mut self, head: &[u8], segments: &[IoSlice<'_>]) -> bool {
        let start = self.bytes.len();
        let fits = self.put(head) && segments.iter().all(|segment| self.put(segment));
        if !fits {
            self.bytes.truncate(start);
            return false;
        }
        self.start = start;
        true
    }

    #[inline]
    fn put(&mut self, part: &[u8]) -> bool {
        self.bytes.extend(part) || self.grow(part.len()) && self.bytes.extend(part)
    }

    /// Appends a message that is sent together with the next one. Returns false if there is no room
    /// for it.
    #[inline]
    pub(super) fn keep(&mut self, head: &[u8], segments: &[IoSlice<'_>]) -> bool {
        let fits = self.append(head, segments);
        self.start = self.bytes.len();
        fits
    }

    /// Makes room for `more` additional bytes. Returns false if that would exceed the maximum.
    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let wanted = self.bytes.len().saturating_add(more);
        if wanted > self.most {
            return false;
        }
        let mut larger = EmptyBuffer::heap(wanted.next_power_of_two().min(self.most)).writer();
        let fits = larger.extend(self.bytes.as_bytes());
        debug_assert!(fits, "there is room for all of it");
        self.bytes = larger;
        true
    }

    /// Returns the bytes that were not sent yet.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.as_bytes().get(self.sent..).unwrap_or_default()
    }

    /// Returns true if a part of the bytes was sent. The rest must be sent before anything else.
    pub(super) fn is_begun(&self) -> bool {
        self.sent > 0
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent as u64
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Records that the wire has accepted `n` more bytes.
    pub(super) fn advance(&mut self, n: usize) {
        self.sent = self.sent.saturating_add(n).min(self.bytes.len());
    }

    /// Returns the number of bytes sent of the current message. If that is 0, removes the message
    /// from the buffer. If everything was sent, empties the buffer.
    pub(super) fn end_message(&mut self) -> u64 {
        let taken = self.sent.saturating_sub(self.start);
        if taken == 0 {
            self.bytes.truncate(self.start);
        }
        if self.sent >= self.bytes.len() {
            self.bytes.truncate(0);
            self.sent = 0;
            self.start = 0;
        }
        taken as u64
    }
}

#[cfg(test)]
mod tests;
