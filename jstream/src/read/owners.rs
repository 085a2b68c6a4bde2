//! The shared target that owns each object.
//!
//! Every object belongs to the last shared target on the path to it from the root. The root itself
//! has number 0. Objects are claimed and read in the same order, so a list of the offsets at which
//! the owner changes is enough. Most messages have no such change.

use std::mem;

use super::limits::{COMPACT, KEEP};
use crate::keep::clear_after;

/// A change of owner: from an offset on, objects belong to one target, or are shared targets
/// themselves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OwnerChange {
    pub(super) start: usize,
    /// The number of the target, or of the first one of several.
    pub(super) number: u32,
    /// The size of each target if the objects are targets themselves; otherwise 0.
    pub(super) stride: usize,
}

/// The stride of a pass in which all objects so far belong to the root.
pub(super) const NO_OWNERS: usize = usize::MAX;

/// The owner of the object that the pass is reading.
#[derive(Debug, Default)]
pub(super) struct ReadingOwner {
    /// The number of the shared target.
    pub(super) owner: u32,
    /// Like the `event` of the pass, but ignores the change of owner between adjacent targets of
    /// the size `stride`.
    pub(super) next: usize,
    pub(super) stride: usize,
}

/// The changes of owner that the pass has claimed but not yet reached.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    list: Vec<OwnerChange>,
    /// Number of changes in `list` that have been taken. `list` is emptied once all of them are
    /// taken.
    head: usize,
    peak_len: usize,
    pub(super) current: OwnerChange,
    pub(super) reading: ReadingOwner,
    /// The number of the shared target that owns the objects claimed last, or
    /// [`NONE`](super::fault::NONE).
    pub(super) claimed: u32,
    /// The offset, number and stride of an object that would continue the last change.
    pub(super) end: usize,
    pub(super) next: u32,
    pub(super) stride: usize,
}

impl Owners {
    /// Clears the list.
    #[inline(always)]
    pub(super) fn reset(&mut self) {
        clear_after(&mut self.list, KEEP, mem::take(&mut self.peak_len));
        self.head = 0;
        self.current = OwnerChange::default();
        self.reading = ReadingOwner {
            owner: 0,
            next: 0,
            stride: NO_OWNERS,
        };
        self.claimed = 0;
        self.stride = 0;
        self.next = 0;
    }

    /// Returns true if the target with this number was claimed last, in the objects segment.
    pub(super) fn has_claimed(&self, number: u32) -> bool {
        self.next == number.wrapping_add(1)
    }

    /// Adds a change. The list needs no limit: a level has at most two changes for each shared
    /// target in it or above it, and only changes of two levels wait.
    #[inline]
    pub(super) fn push(&mut self, change: OwnerChange) {
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.list.len() {
            self.list.drain(..self.head);
            self.head = 0;
        }
        self.list.push(change);
        self.peak_len = self.peak_len.max(self.list.len());
    }

    /// Takes the changes up to the offset `at`. Returns the offset of the next change.
    #[inline]
    pub(super) fn take_up_to(&mut self, at: usize) -> usize {
        while let Some(next) = self.list.get(self.head) {
            if next.start > at {
                return next.start;
            }
            self.current = *next;
            self.head = self.head.wrapping_add(1);
        }
        self.list.clear();
        self.head = 0;
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_changes_do_not_pile_up() {
        let mut owners = Owners::default();
        let change = |start: usize| OwnerChange {
            start,
            number: 1,
            stride: 0,
        };
        owners.push(change(0));
        // The list is never empty.
        for start in 1..100_000usize {
            owners.push(change(start));
            assert_eq!(owners.take_up_to(start.wrapping_sub(1)), start);
        }
        assert!(owners.list.capacity() < 8 * COMPACT);
    }
}
