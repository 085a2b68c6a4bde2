//! Small messages on their way to the wire: copied one behind another, so that one call takes them all.

use std::io::IoSlice;

use jstream::buffer::{Filling, Spent};

/// How much room there is at first. Few connections have much to say at once, and many say little ever.
const FIRST: usize = 512;

/// Bytes that are to be sent.
///
/// Invariant: `sent` and `start` are at most as many as there are bytes.
pub(super) struct Gathered {
    bytes: Filling,
    /// How many there may be.
    most: usize,
    /// How many of them the wire has taken.
    sent: usize,
    /// Where the message begins that is sent now; behind all, if none is.
    start: usize,
}

impl Gathered {
    /// Room for `most` bytes, of which memory is taken as it is needed.
    pub(super) fn new(most: usize) -> Self {
        Self {
            bytes: Spent::heap(most.min(FIRST)).filling(),
            most,
            sent: 0,
            start: 0,
        }
    }

    /// Appends a message that is sent now. False where there is no room for it.
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

    /// Appends a message that goes with the next one. False where there is no room for it.
    #[inline]
    pub(super) fn keep(&mut self, head: &[u8], segments: &[IoSlice<'_>]) -> bool {
        let fits = self.append(head, segments);
        self.start = self.bytes.len();
        fits
    }

    /// Makes room for so many bytes more. False where that would be too much.
    #[cold]
    fn grow(&mut self, more: usize) -> bool {
        let wanted = self.bytes.len().saturating_add(more);
        if wanted > self.most {
            return false;
        }
        let mut larger = Spent::heap(wanted.next_power_of_two().min(self.most)).filling();
        let fits = larger.extend(self.bytes.as_bytes());
        debug_assert!(fits, "there is room for all of it");
        self.bytes = larger;
        true
    }

    /// What is to be sent.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.as_bytes().get(self.sent..).unwrap_or_default()
    }

    /// Whether a part of it has gone, and the rest has to go before anything else.
    pub(super) fn is_begun(&self) -> bool {
        self.sent > 0
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent as u64
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The wire has taken so many bytes more.
    pub(super) fn advance(&mut self, n: usize) {
        self.sent = self.sent.saturating_add(n).min(self.bytes.len());
    }

    /// How many bytes were taken of the message that is sent now. Where that is none, the message is not here any
    /// more; where all has gone, nothing is.
    pub(super) fn settle(&mut self) -> u64 {
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
