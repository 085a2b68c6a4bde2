//! The shared target that owns each object.
//!
//! Every object belongs to the last shared target on the path to it from the root. The root itself
//! has number 0. Objects are claimed and read in the same order, so a list of the offsets at which
//! the owner changes is enough. Most messages have no such change.

use std::mem;

use super::KEEP;
use super::pass::{FaultKind, Pass};
use super::queue::COMPACT;
use super::shared::NONE;
use crate::keep::clear_after;

/// A change of owner: from an offset on, objects belong to one target, or are shared targets
/// themselves.
#[derive(Debug, Clone, Copy, Default)]
struct OwnerChange {
    start: usize,
    /// The number of the target, or of the first one of several.
    number: u32,
    /// The size of each target if the objects are targets themselves; otherwise 0.
    stride: usize,
}

/// The stride of a pass in which all objects so far belong to the root.
pub(super) const NO_OWNERS: usize = usize::MAX;

/// The changes of owner that the pass has claimed but not yet reached.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    list: Vec<OwnerChange>,
    /// Number of changes in `list` that have been taken. `list` is emptied once all of them are
    /// taken.
    head: usize,
    peak_len: usize,
    most: usize,
    current: OwnerChange,
    /// The offset, number and stride of an object that would continue the last change.
    end: usize,
    next: u32,
    stride: usize,
}

impl Owners {
    /// Clears the list and sets the maximum number of waiting changes to `most`.
    #[inline(always)]
    pub(super) fn reset(&mut self, most: usize) {
        clear_after(&mut self.list, KEEP, mem::take(&mut self.peak_len));
        self.head = 0;
        self.most = most;
        self.current = OwnerChange::default();
        self.stride = 0;
        self.next = 0;
    }

    /// Returns true if the target with this number was claimed last, in the objects segment.
    pub(super) fn has_claimed(&self, number: u32) -> bool {
        self.next == number.wrapping_add(1)
    }

    fn push(&mut self, change: OwnerChange) -> bool {
        if self.list.len().wrapping_sub(self.head) >= self.most {
            return false;
        }
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.list.len() {
            self.list.drain(..self.head);
            self.head = 0;
        }
        self.list.push(change);
        self.peak_len = self.peak_len.max(self.list.len());
        true
    }

    /// Takes the changes up to the offset `at`. Returns the offset of the next change.
    fn take_up_to(&mut self, at: usize) -> usize {
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

impl Pass<'_> {
    /// Records that the objects claimed from `start` on belong to the owner of the object being
    /// read.
    #[cold]
    pub(super) fn belong(&mut self, start: usize) -> Result<(), FaultKind> {
        self.claimed = self.owner;
        self.owners.stride = 0;
        let change = OwnerChange {
            start,
            number: self.owner,
            stride: 0,
        };
        self.change(change)
    }

    /// Records that the objects claimed from `start` to `end` are one shared target.
    #[inline(never)]
    pub(super) fn record_shared_owner(
        &mut self,
        start: usize,
        end: usize,
        number: u32,
        is_one: bool,
    ) -> Result<(), FaultKind> {
        let stride = if is_one { end.wrapping_sub(start) } else { 0 };
        let owners = &mut *self.owners;
        let continues = is_one
            && self.claimed == NONE
            && (owners.stride, owners.end, owners.next) == (stride, start, number);
        // The objects of a target with several values all belong to it, and a following target
        // begins a new change.
        self.claimed = NONE;
        owners.stride = stride;
        owners.end = end;
        owners.next = number.wrapping_add(1);
        let change = OwnerChange {
            start,
            number,
            stride,
        };
        if continues {
            Ok(())
        } else {
            self.change(change)
        }
    }

    fn change(&mut self, change: OwnerChange) -> Result<(), FaultKind> {
        if self.stride == NO_OWNERS {
            // The first change lies behind all objects that were claimed before it.
            self.stride = 0;
            self.next_owner = self.event;
        }
        if self.owners.push(change) {
            Ok(())
        } else {
            Err(FaultKind::Pending)
        }
    }

    /// Called at an object that begins a level or has another owner than the object before it.
    #[inline(always)]
    pub(super) fn next_owner(&mut self, at: usize) {
        if self.stride == NO_OWNERS {
            self.depth.now = self.depth.now.wrapping_add(1);
            self.depth.end = self.objects.cursor;
            self.event = self.depth.end;
        } else if at < self.next_owner {
            // The next one of several adjacent targets.
            self.owner = self.owner.wrapping_add(1);
            self.event = self.next_owner.min(at.wrapping_add(self.stride));
        } else {
            self.next_owner_slow(at);
        }
    }

    #[inline(never)]
    fn next_owner_slow(&mut self, at: usize) {
        self.note_last();
        if at >= self.depth.end {
            self.depth.now = self.depth.now.wrapping_add(1);
            self.depth.end = self.objects.cursor;
        }
        let before = self.owners.current.start;
        let next = self.owners.take_up_to(at);
        let current = self.owners.current;
        self.owner = if current.stride != 0 && current.start == before {
            self.owner.wrapping_add(1)
        } else {
            current.number
        };
        self.stride = current.stride;
        self.next_owner = self.depth.end.min(next);
        self.event = if current.stride == 0 {
            self.next_owner
        } else {
            self.next_owner.min(at.wrapping_add(current.stride))
        };
    }

    /// Records the depth of the objects read so far, if they belong to a target other than the
    /// root.
    pub(super) fn note_last(&mut self) {
        let OwnerChange { number, stride, .. } = self.owners.current;
        if stride == 0 && number != 0 {
            let now = u32::try_from(self.depth.now).unwrap_or(NONE.wrapping_sub(1));
            self.shared.note_last(number, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_changes_do_not_pile_up() {
        let mut owners = Owners::default();
        owners.reset(100);
        let change = |start: usize| OwnerChange {
            start,
            number: 1,
            stride: 0,
        };
        assert!(owners.push(change(0)));
        // The list is never empty.
        for start in 1..100_000usize {
            assert!(owners.push(change(start)));
            assert_eq!(owners.take_up_to(start.wrapping_sub(1)), start);
        }
        assert!(owners.list.capacity() < 8 * COMPACT);
        owners.reset(2);
        assert!(owners.push(change(1)) && owners.push(change(2)) && !owners.push(change(3)));
    }
}
