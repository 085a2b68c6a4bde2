//! Which shared target each object belongs to.
//!
//! Every object belongs to the shared target that was met last on the way to it from the root, which
//! is number 0. Objects are claimed and read in one order, so the owners of all are a list of the
//! places where they change, of which most messages have none.

use std::mem;

use super::KEEP;
use super::pass::{FaultKind, Pass};
use super::queue::COMPACT;
use super::shared::NONE;
use crate::keep::clear_after;

/// From a place on, objects belong to one target, or are such targets themselves.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    start: usize,
    /// The target, or the first of them.
    number: u32,
    /// The size of each, where they are targets themselves; else 0.
    stride: usize,
}

/// The stride of a message in which all objects belong to the root, as far as is known.
pub(super) const NO_OWNERS: usize = usize::MAX;

/// The changes that were claimed and not yet come to.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    list: Vec<Change>,
    /// How many of `list` have been taken; when it is all of them, `list` is emptied.
    head: usize,
    had: usize,
    most: usize,
    current: Change,
    /// What would continue the last change: where, with which number, in steps of which size.
    end: usize,
    next: u32,
    stride: usize,
}

impl Owners {
    /// Forgets everything, and lets `most` changes wait.
    #[inline(always)]
    pub(super) fn reset(&mut self, most: usize) {
        clear_after(&mut self.list, KEEP, mem::take(&mut self.had));
        self.head = 0;
        self.most = most;
        self.current = Change::default();
        self.stride = 0;
        self.next = 0;
    }

    /// Whether the target of this number was claimed last, and is objects.
    pub(super) fn has_claimed(&self, number: u32) -> bool {
        self.next == number.wrapping_add(1)
    }

    fn push(&mut self, change: Change) -> bool {
        if self.list.len().wrapping_sub(self.head) >= self.most {
            return false;
        }
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.list.len() {
            self.list.drain(..self.head);
            self.head = 0;
        }
        self.list.push(change);
        self.had = self.had.max(self.list.len());
        true
    }

    /// Takes the changes up to the place `at`; returns where the next is.
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
    /// Notes that the objects claimed from `start` on belong to the target that is being read.
    #[cold]
    pub(super) fn belong(&mut self, start: usize) -> Result<(), FaultKind> {
        self.claimed = self.owner;
        self.owners.stride = 0;
        let change = Change {
            start,
            number: self.owner,
            stride: 0,
        };
        self.change(change)
    }

    /// Notes that the objects claimed from `start` to `end` are one shared target.
    #[inline(never)]
    pub(super) fn belong_to_shared(
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
        // Of a target of several objects all are one, and what comes next is another.
        self.claimed = NONE;
        owners.stride = stride;
        owners.end = end;
        owners.next = number.wrapping_add(1);
        let change = Change {
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

    fn change(&mut self, change: Change) -> Result<(), FaultKind> {
        if self.stride == NO_OWNERS {
            // The first one lies behind all that was claimed before.
            self.stride = 0;
            self.turn = self.event;
        }
        if self.owners.push(change) {
            Ok(())
        } else {
            Err(FaultKind::Pending)
        }
    }

    /// Comes to an object with which a level begins, or whose owner is another than that before it.
    #[inline(always)]
    pub(super) fn turn(&mut self, at: usize) {
        if self.stride == NO_OWNERS {
            self.depth.now = self.depth.now.wrapping_add(1);
            self.depth.end = self.objects.cursor;
            self.event = self.depth.end;
        } else if at < self.turn {
            // The next of several targets side by side.
            self.owner = self.owner.wrapping_add(1);
            self.event = self.turn.min(at.wrapping_add(self.stride));
        } else {
            self.turn_with_owners(at);
        }
    }

    #[inline(never)]
    fn turn_with_owners(&mut self, at: usize) {
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
        self.turn = self.depth.end.min(next);
        self.event = if current.stride == 0 {
            self.turn
        } else {
            self.turn.min(at.wrapping_add(current.stride))
        };
    }

    /// Notes how deep the objects lie that were read and belong to a target that is not the root.
    pub(super) fn note_last(&mut self) {
        let Change { number, stride, .. } = self.owners.current;
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
        let change = |start: usize| Change {
            start,
            number: 1,
            stride: 0,
        };
        assert!(owners.push(change(0)));
        // Never empty.
        for start in 1..100_000usize {
            assert!(owners.push(change(start)));
            assert_eq!(owners.take_up_to(start.wrapping_sub(1)), start);
        }
        assert!(owners.list.capacity() < 8 * COMPACT);
        owners.reset(2);
        assert!(owners.push(change(1)) && owners.push(change(2)) && !owners.push(change(3)));
    }
}
