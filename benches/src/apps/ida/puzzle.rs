//! Positions of the 15-puzzle, and depth-first search with a limit.

use std::sync::LazyLock;

/// A position that is to be searched. `board` has four bits for each square, with the tile on it;
/// the blank is 0. Tile `n` belongs on square `n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) board: u64,
    pub(super) blank: u8,
    /// Square from which the blank came, or [`NOWHERE`]. Moving back is never useful.
    pub(super) last: u8,
    /// Moves so far.
    pub(super) moves: u8,
    /// Lower bound of the moves that are left: the sum of the distances of all tiles.
    pub(super) estimate: u8,
}

const NOWHERE: u8 = 16;

/// Distances of tiles from where they belong, by tile and square.
static DISTANCES: LazyLock<[[u8; 16]; 16]> = LazyLock::new(|| {
    let mut distances = [[0; 16]; 16];
    for (tile, of_tile) in (0u8..).zip(&mut distances).skip(1) {
        for (square, distance) in (0u8..).zip(of_tile) {
            *distance = (tile / 4).abs_diff(square / 4) + (tile % 4).abs_diff(square % 4);
        }
    }
    distances
});

/// Squares beside each square.
static NEIGHBOURS: LazyLock<[Vec<u8>; 16]> = LazyLock::new(|| {
    std::array::from_fn(|square| {
        let square = square as u8;
        let beside =
            |other: &u8| (square / 4).abs_diff(other / 4) + (square % 4).abs_diff(other % 4) == 1;
        (0..16).filter(beside).collect()
    })
});

fn tile(board: u64, square: u8) -> u64 {
    board >> (4 * square) & 15
}

impl Position {
    /// Creates a position at which a search begins.
    pub(super) fn first(board: u64) -> Self {
        let squares = 0..16;
        let distance = |square: u8| DISTANCES[tile(board, square) as usize][usize::from(square)];
        Self {
            board,
            blank: squares
                .clone()
                .find(|square| tile(board, *square) == 0)
                .unwrap_or(0),
            last: NOWHERE,
            moves: 0,
            estimate: squares.map(distance).sum(),
        }
    }

    /// Returns the positions after one more move.
    fn successors(self) -> impl Iterator<Item = Self> {
        let neighbours = NEIGHBOURS[usize::from(self.blank)].iter();
        let forward = neighbours.copied().filter(move |to| *to != self.last);
        forward.map(move |to| {
            let moved = tile(self.board, to);
            let distances = &DISTANCES[moved as usize];
            Self {
                board: self.board ^ moved << (4 * to) ^ moved << (4 * self.blank),
                blank: to,
                last: self.blank,
                moves: self.moves + 1,
                estimate: self.estimate + distances[usize::from(self.blank)]
                    - distances[usize::from(to)],
            }
        })
    }
}

/// Result of a search with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    /// Positions that were examined.
    pub(super) expanded: u64,
    /// Ways to the solution.
    pub(super) solutions: u64,
    /// Smallest estimated number of moves beyond the limit.
    pub(super) next_limit: u8,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            expanded: 0,
            solutions: 0,
            next_limit: u8::MAX,
        }
    }
}

impl Tally {
    /// Adds the result of another part of the same search.
    pub(super) fn add(&mut self, other: Self) {
        self.expanded += other.expanded;
        self.solutions += other.solutions;
        self.next_limit = self.next_limit.min(other.next_limit);
    }

    /// Examines a position alone: calls `next` with its successors that may lead to a solution of
    /// at most `limit` moves.
    pub(super) fn expand(
        &mut self,
        position: Position,
        limit: u8,
        mut next: impl FnMut(&mut Self, Position),
    ) {
        self.expanded += 1;
        if position.estimate == 0 {
            self.solutions += 1;
            return;
        }
        for successor in position.successors() {
            let moves = successor.moves + successor.estimate;
            if moves > limit {
                self.next_limit = self.next_limit.min(moves);
            } else {
                next(self, successor);
            }
        }
    }

    /// Examines a position and all that follow from it.
    pub(super) fn search(&mut self, position: Position, limit: u8) {
        self.expand(position, limit, |tally, successor| {
            tally.search(successor, limit)
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SOLVED: u64 = 0xfedc_ba98_7654_3210;

    /// Returns the smallest number of moves to the solution, by breadth-first search.
    fn depth(board: u64) -> u8 {
        let mut seen = HashSet::new();
        let mut layer = vec![Position::first(board)];
        for depth in 0.. {
            if layer.iter().any(|position| position.board == SOLVED) {
                return depth;
            }
            let next = layer.iter().flat_map(|position| position.successors());
            layer = next
                .filter(|position| seen.insert(position.board))
                .collect();
        }
        unreachable!("the number of moves is unbounded")
    }

    #[test]
    fn iterations_end_at_the_depth_that_breadth_first_search_finds() {
        let mut position = Position::first(SOLVED);
        for step in 0..12 {
            let successors: Vec<_> = position.successors().collect();
            position = successors[step % successors.len()];
            let first = Position::first(position.board);
            assert_eq!(first.estimate, position.estimate);
            let mut limit = first.estimate;
            loop {
                let mut tally = Tally::default();
                tally.search(first, limit);
                if tally.solutions > 0 {
                    break;
                }
                limit = tally.next_limit;
            }
            assert_eq!(limit, depth(position.board), "after {step} moves");
        }
    }
}
