//! Distribution of data over nodes.

use std::ops::Range;

/// Returns the indices of `length` elements that a node has.
pub(super) fn part_of(length: usize, node: usize, nodes: usize) -> Range<usize> {
    length * node / nodes..length * (node + 1) / nodes
}
