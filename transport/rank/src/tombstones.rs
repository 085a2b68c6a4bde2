//! Tombstones of operations that have ended before all of their messages have arrived.
//!
//! Decision 093 has the reasons.

use std::collections::{HashSet, VecDeque};

use super::communicator::AGREEMENT;

/// Maximum number of tombstones. A message that arrives after its tombstone was removed stays in
/// the queue of unexpected messages.
const MOST: usize = 1024;

/// Operations that have ended at this rank, as contexts and tags. Messages of them that still
/// arrive are dropped, because no receive will match them.
#[derive(Default)]
pub(super) struct Tombstones {
    operations: HashSet<(u32, u64)>,
    /// Operations in the order in which they ended.
    order: VecDeque<(u32, u64)>,
    /// True if any operation but agreements was added. Most programs have none, and look for no
    /// tombstones of collective operations then.
    has_collectives: bool,
}

impl Tombstones {
    /// Adds an operation. If there are too many, removes the one that ended first.
    pub(super) fn add(&mut self, context: u32, tag: u64) {
        if !self.operations.insert((context, tag)) {
            return;
        }
        self.has_collectives |= context != AGREEMENT;
        self.order.push_back((context, tag));
        // A late message of an operation that is forgotten stays in the matcher, and uses credit of
        // its sender.
        if self.order.len() > MOST {
            if let Some(first) = self.order.pop_front() {
                self.operations.remove(&first);
            }
        }
    }

    /// Returns true if an operation has ended.
    #[inline]
    pub(super) fn have(&self, context: u32, tag: u64) -> bool {
        (self.has_collectives || context == AGREEMENT) && self.operations.contains(&(context, tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operations_that_ended_last_are_kept() {
        let mut tombstones = Tombstones::default();
        for tag in 0..2 * MOST as u64 {
            tombstones.add(7, tag);
            tombstones.add(7, tag);
        }
        let kept = (0..2 * MOST as u64).filter(|tag| tombstones.have(7, *tag));
        assert!(kept.eq(MOST as u64..2 * MOST as u64));
        assert!(!tombstones.have(8, MOST as u64));
        assert_eq!(tombstones.order.len(), tombstones.operations.len());
    }

    #[test]
    fn agreements_are_found_without_other_operations() {
        let mut tombstones = Tombstones::default();
        tombstones.add(AGREEMENT, 1);
        let found = [(AGREEMENT, 1), (AGREEMENT, 2), (7, 1)];
        let found = found.map(|(context, tag)| tombstones.have(context, tag));
        assert_eq!(found, [true, false, false]);
        tombstones.add(7, 1);
        assert!(tombstones.have(7, 1));
    }
}
