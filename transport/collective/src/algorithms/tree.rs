//! Binomial trees over the ranks, numbered from the root.

use crate::schedule::Position;

/// The place of a rank in a binomial tree.
///
/// Ranks are counted from the root: the root has number 0 there. The parent of a number has its
/// lowest bit cleared. The subtree below a number has consecutive numbers.
pub(super) struct Tree {
    at: Position,
    root: usize,
    /// Number of the rank, counted from the root.
    pub(super) number: usize,
}

impl Tree {
    pub(super) fn new(at: Position, root: usize) -> Self {
        let number = (at.rank + at.size - root) % at.size;
        Self { at, root, number }
    }

    /// Returns the rank with this number.
    pub(super) fn rank(&self, number: usize) -> usize {
        (number + self.root) % self.at.size
    }

    /// Returns the number of the parent, except for the root.
    pub(super) fn parent(&self) -> Option<usize> {
        (self.number > 0).then(|| self.number & (self.number - 1))
    }

    /// Returns the distances to the children, the largest first.
    pub(super) fn distances(&self) -> Vec<usize> {
        let lowest = match self.number {
            0 => self.at.size.next_power_of_two(),
            number => 1 << number.trailing_zeros(),
        };
        let mut distances = Vec::new();
        let mut distance = lowest / 2;
        while distance > 0 {
            if self.number + distance < self.at.size {
                distances.push(distance);
            }
            distance /= 2;
        }
        distances
    }

    /// Returns the number behind the subtree of a child at a distance.
    pub(super) fn end(&self, distance: usize) -> usize {
        (self.number + 2 * distance).min(self.at.size)
    }

    /// Returns the number behind the subtree of this rank.
    pub(super) fn own_end(&self) -> usize {
        match self.number {
            0 => self.at.size,
            number => (number + (1 << number.trailing_zeros())).min(self.at.size),
        }
    }
}
