//! Tree of the ranks of a world, over which it is joined and ended.
//!
//! Decision 100 has the reasons.

use std::ops::Range;

/// Maximum number of children of a rank. A rank keeps a connection to each of its children and to
/// its parent, however large the world is.
const ARITY: u32 = 4;

/// Returns the parent of a rank. Rank 0 has none.
pub(super) fn parent(rank: u32) -> Option<u32> {
    Some(rank.checked_sub(1)? / ARITY)
}

/// Returns the children of a rank in a world of `size`.
pub(super) fn children(rank: u32, size: u32) -> Range<u32> {
    let first = rank.saturating_mul(ARITY).saturating_add(1).min(size);
    first..first.saturating_add(ARITY).min(size)
}

/// Returns the parent of a rank in the tree of the ranks that are not lost: its first ancestor that
/// is left or, if all of its ancestors are lost, the first rank that is left. `None` if that is the
/// rank itself.
pub(super) fn parent_without(rank: u32, is_lost: impl Fn(u32) -> bool) -> Option<u32> {
    let mut ancestors = std::iter::successors(parent(rank), |rank| parent(*rank));
    let ancestor = ancestors.find(|ancestor| !is_lost(*ancestor));
    ancestor.or_else(|| (0..rank).find(|other| !is_lost(*other)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_rank_is_the_child_of_its_parent() {
        for size in 1..300 {
            let mut seen = BTreeSet::from([0]);
            for rank in 0..size {
                for child in children(rank, size) {
                    assert_eq!(parent(child), Some(rank));
                    assert!(child < size && seen.insert(child));
                }
            }
            assert_eq!(seen.len(), size as usize);
        }
        assert_eq!(
            (parent(0), children(0, 3), children(1, 3)),
            (None, 1..3, 3..3)
        );
        assert!(children(u32::MAX - 1, u32::MAX).is_empty());
    }

    /// Costs of joining in milliseconds.
    struct Costs {
        /// Processor time of rank 0 for the report of a member.
        report: f64,
        /// Time of a parent to connect to a child.
        connect: f64,
        /// Time to send the addresses of one rank.
        entry: f64,
        /// Time until a short message arrives.
        hop: f64,
    }

    /// Simulates joining. Returns the time until the last report has come, and the time from there
    /// until the last rank begins. A rank does one thing at a time.
    fn time_to_join(size: u32, costs: &Costs) -> (f64, f64) {
        let mut has_table = vec![0.0_f64; size as usize];
        for rank in 0..size {
            let mut now = has_table[rank as usize];
            for child in children(rank, size) {
                now += costs.connect + f64::from(size) * costs.entry;
                has_table[child as usize] = now + costs.hop;
            }
        }
        let mut ready = has_table;
        for rank in (1..size).rev() {
            let above = parent(rank).unwrap() as usize;
            ready[above] = ready[above].max(ready[rank as usize] + costs.hop);
        }
        let mut begin_times = vec![ready[0]; size as usize];
        for rank in 1..size {
            begin_times[rank as usize] = begin_times[parent(rank).unwrap() as usize] + costs.hop;
        }
        let last = begin_times.into_iter().fold(0.0, f64::max);
        ((f64::from(size) - 1.0) * costs.report, last)
    }

    /// The guide shows these figures.
    #[test]
    fn ten_thousand_ranks_join_in_steps_of_the_depth() {
        // Measured at rank 0 of 256 processes: 0.3 ms for a report, and as much for a connection.
        // Lines of 1 GB/s with 50 us, and 100 bytes of addresses for each rank.
        let costs = Costs {
            report: 0.3,
            connect: 0.3,
            entry: 1e-4,
            hop: 0.05,
        };
        let sizes = [16, 256, 4_096, 10_000, 65_536];
        let found = sizes.map(|size| {
            let (reports, tree) = time_to_join(size, &costs);
            (reports.round(), (tree * 10.0).round() / 10.0)
        });
        let expected = [
            (5.0, 2.1),
            (77.0, 5.2),
            (1229.0, 16.5),
            (3000.0, 33.5),
            (19661.0, 206.8),
        ];
        assert_eq!(found, expected);
        // Without the addresses, a step costs the same at any size: the time grows with the depth.
        let steps = Costs {
            entry: 0.0,
            ..costs
        };
        let depth = |size: u32| {
            std::iter::successors(parent(size.saturating_sub(1)), |rank| parent(*rank)).count()
        };
        for size in sizes {
            let step_time = 4.0 * steps.connect + 3.0 * steps.hop;
            assert!(time_to_join(size, &steps).1 <= step_time * depth(size) as f64 + 1e-9);
        }
    }

    proptest! {
        #[test]
        fn ranks_that_are_left_are_a_tree(lost in prop::collection::vec(any::<bool>(), 1..100)) {
            let left: Vec<_> = (0..lost.len()).filter(|rank| !lost[*rank]).collect();
            let is_lost = |rank: u32| lost[rank as usize];
            for rank in &left {
                let above = parent_without(u32::try_from(*rank).unwrap(), is_lost);
                match above {
                    None => prop_assert_eq!(*rank, left[0]),
                    // Parents have lower numbers, so all paths end at the first rank.
                    Some(above) => {
                        prop_assert!((above as usize) < *rank && !is_lost(above));
                    }
                }
            }
        }
    }
}
