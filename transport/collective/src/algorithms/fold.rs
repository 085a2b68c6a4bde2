//! Reduction of a group to a power of two.

use super::accumulator::Accumulator;
use crate::schedule::{Builder, Position};

/// A group of a power of two. If the group is larger, its first ranks form pairs. The even rank of
/// a pair gives its elements to the odd one, and pauses until the others have the result.
///
/// The remaining ranks are numbered in the same order, and combine elements of consecutive ranks.
pub(super) struct Fold {
    at: Position,
    /// Number of remaining ranks.
    pub(super) power: usize,
    /// Number of pairs.
    pub(super) pairs: usize,
}

impl Fold {
    pub(super) fn new(at: Position) -> Self {
        let power = (at.size / 2 + 1).next_power_of_two();
        let power = if power > at.size { power / 2 } else { power };
        Self {
            at,
            power,
            pairs: at.size - power,
        }
    }

    /// Returns the number of a rank among those that remain.
    pub(super) fn number_of(&self, rank: usize) -> Option<usize> {
        if rank >= 2 * self.pairs {
            Some(rank - self.pairs)
        } else {
            (rank % 2 == 1).then_some(rank / 2)
        }
    }

    /// Returns the rank with this number.
    pub(super) fn rank(&self, number: usize) -> usize {
        if number < self.pairs {
            2 * number + 1
        } else {
            number + self.pairs
        }
    }

    /// Returns the first rank whose elements this number has.
    pub(super) fn first_rank(&self, number: usize) -> usize {
        number + number.min(self.pairs)
    }

    /// Returns the rank that pauses for this one.
    pub(super) fn paused(&self) -> Option<usize> {
        let Position { rank, .. } = self.at;
        (rank < 2 * self.pairs && rank % 2 == 1).then(|| rank - 1)
    }

    /// Begins the operation. Returns the number of this rank, or `None` if it pauses.
    pub(super) fn begin(&self, builder: &mut Builder, sum: &mut Accumulator) -> Option<usize> {
        let number = self.number_of(self.at.rank);
        if number.is_none() {
            builder.send(self.at.rank + 1, sum.held());
            builder.wait();
        } else if let Some(paused) = self.paused() {
            sum.receive(builder, paused, true);
        }
        number
    }
}
