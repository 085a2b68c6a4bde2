//! Knowledge of a rank about the end of its world, without input or output.
//!
//! Decision 100 has the reasons.

use super::tree::{children, parent_without};

/// The ranks that have begun to end, and those that were lost. Members exchange this along the tree
/// until they know it of all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Census {
    own: u32,
    size: u32,
    /// One bit for each rank that has begun to end.
    ended: Vec<u8>,
    /// One bit for each rank that was lost.
    lost: Vec<u8>,
}

impl Census {
    /// Returns the census of a rank that begins to end and knows of no other one.
    pub(super) fn new(own: u32, size: u32) -> Self {
        let bytes = size.div_ceil(8) as usize;
        let mut census = Self {
            own,
            size,
            ended: vec![0; bytes],
            lost: vec![0; bytes],
        };
        set(&mut census.ended, own);
        census
    }

    /// Notes that a rank was lost. Returns true if this is new.
    pub(super) fn lose(&mut self, rank: u32) -> bool {
        set(&mut self.lost, rank)
    }

    pub(super) fn has_ended(&self, rank: u32) -> bool {
        is_set(&self.ended, rank)
    }

    pub(super) fn is_lost(&self, rank: u32) -> bool {
        is_set(&self.lost, rank)
    }

    /// Returns true if it is known of a rank that it has ended or was lost.
    fn knows(&self, rank: u32) -> bool {
        self.has_ended(rank) || self.is_lost(rank)
    }

    /// Returns true if it is known of every rank that it has ended or was lost.
    pub(super) fn is_complete(&self) -> bool {
        (0..self.size).all(|rank| self.knows(rank))
    }

    /// Returns true if it is known of all ranks below this one in the tree.
    pub(super) fn is_complete_below(&self) -> bool {
        let mut level = self.own..self.own.saturating_add(1);
        while !level.is_empty() {
            if !level.clone().all(|rank| self.knows(rank)) {
                return false;
            }
            let last = level.end.saturating_sub(1);
            // The ranks of a level are contiguous, and so are all of their children.
            level = children(level.start, self.size).start..children(last, self.size).end;
        }
        true
    }

    /// Returns the parent of this rank in the tree of the ranks that are not lost.
    pub(super) fn parent(&self) -> Option<u32> {
        parent_without(self.own, |rank| self.is_lost(rank))
    }

    /// Returns the parent and the children of this rank in the tree of the ranks that are not lost.
    pub(super) fn neighbours(&self) -> Vec<u32> {
        let is_lost = |rank: u32| self.is_lost(rank);
        let all = if self.lost.iter().all(|byte| *byte == 0) {
            children(self.own, self.size)
        } else {
            // A rank whose ancestors are lost may belong to any rank before it, so all of them are
            // searched.
            self.own.saturating_add(1)..self.size
        };
        let below = all.filter(|rank| !is_lost(*rank));
        let below = below.filter(|rank| parent_without(*rank, is_lost) == Some(self.own));
        self.parent().into_iter().chain(below).collect()
    }

    /// Encodes the census.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [&self.ended[..], &self.lost].concat()
    }

    /// Adds what another rank knows. Returns true if this changes anything. Ignores bytes that no
    /// member sends.
    pub(super) fn merge(&mut self, bytes: &[u8]) -> bool {
        let Some((ended, lost)) = bytes.split_at_checked(self.ended.len()) else {
            return false;
        };
        if lost.len() != self.lost.len() {
            return false;
        }
        let mut changes = false;
        for (own, others) in [(&mut self.ended, ended), (&mut self.lost, lost)] {
            for (byte, other) in own.iter_mut().zip(others) {
                changes |= *other & !*byte != 0;
                *byte |= other;
            }
        }
        changes
    }
}

fn bit_of(rank: u32) -> (usize, u8) {
    ((rank / 8) as usize, 1 << (rank % 8))
}

fn is_set(bits: &[u8], rank: u32) -> bool {
    let (index, mask) = bit_of(rank);
    bits.get(index).is_some_and(|byte| byte & mask != 0)
}

/// Sets the bit of a rank. Returns true if it was not set.
fn set(bits: &mut [u8], rank: u32) -> bool {
    let (index, mask) = bit_of(rank);
    let Some(byte) = bits.get_mut(index) else {
        return false;
    };
    let is_new = *byte & mask == 0;
    *byte |= mask;
    is_new
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strange_bytes_change_nothing() {
        let mut census = Census::new(3, 20);
        let before = census.clone();
        for length in [0, 1, 5, 7, 100] {
            assert!(!census.merge(&vec![0xff; length]));
        }
        assert_eq!(census, before);
        assert!(census.merge(&[0xff; 6]) && census.is_complete());
        assert!(!census.lose(20_000) && !census.is_lost(20_000));
    }

    #[test]
    fn a_leaf_knows_of_all_ranks_below_it() {
        assert!(Census::new(7, 8).is_complete_below());
        let mut first = Census::new(1, 22);
        for below in [5, 6, 7, 8, 21] {
            assert!(!first.is_complete_below());
            first.merge(&Census::new(below, 22).to_bytes());
        }
        assert!(first.is_complete_below() && !first.is_complete());
    }

    proptest! {
        /// Ranks that exchange the census with their neighbours get to know of all ranks, whichever
        /// are lost.
        #[test]
        fn all_that_are_left_agree(lost in prop::collection::vec(any::<bool>(), 1..80)) {
            let size = u32::try_from(lost.len()).unwrap();
            let is_lost = |rank: u32| lost[rank as usize];
            let left: Vec<_> = (0..size).filter(|rank| !is_lost(*rank)).collect();
            let mut all: Vec<_> = (0..size).map(|rank| Census::new(rank, size)).collect();
            for _ in 0..size.saturating_mul(4) {
                for rank in &left {
                    // A rank notices that those that it is, or becomes, connected to are lost.
                    loop {
                        let near = all[*rank as usize].neighbours();
                        let gone = near.iter().copied().find(|near| is_lost(*near));
                        match gone {
                            Some(gone) => prop_assert!(all[*rank as usize].lose(gone)),
                            None => break,
                        }
                    }
                    let bytes = all[*rank as usize].to_bytes();
                    for near in all[*rank as usize].neighbours() {
                        all[near as usize].merge(&bytes);
                    }
                }
            }
            for rank in left {
                let census = &all[rank as usize];
                prop_assert!(census.is_complete());
                let found: Vec<_> = (0..size).map(|rank| census.is_lost(rank)).collect();
                prop_assert_eq!(&found, &lost);
            }
        }
    }
}
