//! The kernel: a product of blocks of matrices, in blocks that fit the registers and the cache.

use crate::Failure;
use crate::apps::size::Size;

/// Rows and columns of the block of the product that is kept in registers.
const TILE: usize = 4;

/// Rows of the right matrix whose columns are used while they are in the cache.
const DEPTH: usize = 128;

/// Number of rows and columns, and of multiplications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::apps) struct Problem {
    pub(in crate::apps) side: usize,
    pub(in crate::apps) rounds: usize,
}

impl Problem {
    /// Returns the data set of this size, with matrices of at most `side` rows and columns. The
    /// full set of small matrices is multiplied often enough to take some time.
    pub(in crate::apps) fn of(side: usize, size: Size) -> Self {
        let rounds = (1usize << 31) / (2 * side * side * side);
        Self {
            side: size.pick(side.min(64), side),
            rounds: size.iterations(2, rounds.max(1), 6),
        }
    }

    /// Returns the number of rows of each rank.
    pub(in crate::apps) fn rows(self, ranks: usize) -> Result<usize, Failure> {
        let Self { side, .. } = self;
        if side % (TILE * ranks) != 0 {
            return Err(format!("{side} rows cannot be divided among {ranks} ranks").into());
        }
        Ok(side / ranks)
    }

    /// Returns an element of the left matrix. All elements are small integers, so that sums are
    /// exact in any order.
    pub(in crate::apps) fn left(self, at: usize) -> f64 {
        (at / self.side * 3 + at % self.side) as f64 % 7.0 - 3.0
    }

    /// Returns an element of the right matrix.
    pub(in crate::apps) fn right(self, at: usize) -> f64 {
        (at / self.side + at % self.side * 5) as f64 % 11.0 - 5.0
    }
}

/// Rows of the left matrix, and the same rows of the product.
pub(in crate::apps) struct Part {
    side: usize,
    left: Vec<f64>,
    product: Vec<f64>,
    /// Four columns of a block of the right matrix, one row after the other.
    columns: Vec<[f64; TILE]>,
}

impl Part {
    /// Creates the part of a rank, whose product is 0.
    pub(in crate::apps) fn new(problem: Problem, rank: usize, rows: usize) -> Self {
        let elements = rank * rows * problem.side..(rank + 1) * rows * problem.side;
        Self {
            side: problem.side,
            product: vec![0.0; elements.len()],
            left: elements.map(|at| problem.left(at)).collect(),
            columns: Vec::with_capacity(DEPTH),
        }
    }

    /// Adds what rows of the right matrix contribute to the product. `first` is the number of the
    /// first of them.
    pub(in crate::apps) fn add(&mut self, first: usize, right: &[f64]) {
        let side = self.side;
        for (block, right) in right.chunks(DEPTH * side).enumerate() {
            let first = first + block * DEPTH;
            for column in (0..side).step_by(TILE) {
                self.columns.clear();
                for row in right.chunks_exact(side) {
                    let mut four = [0.0; TILE];
                    four.copy_from_slice(&row[column..][..TILE]);
                    self.columns.push(four);
                }
                let rows = self.left.chunks_exact(TILE * side);
                for (left, product) in rows.zip(self.product.chunks_exact_mut(TILE * side)) {
                    add_tile(&left[first..], &self.columns, &mut product[column..], side);
                }
            }
        }
    }

    /// Returns the elements of the product.
    pub(in crate::apps) fn into_product(self) -> Vec<f64> {
        self.product
    }
}

/// Adds a product to four rows and columns. The rows of `left` and of `product` are `side` apart.
#[inline(never)]
fn add_tile(left: &[f64], columns: &[[f64; TILE]], product: &mut [f64], side: usize) {
    let depth = columns.len();
    let row = |row: usize| &left[row * side..][..depth];
    let (a, b, c, d) = (row(0), row(1), row(2), row(3));
    let mut sums = [[0.0; TILE]; TILE];
    for (k, columns) in columns.iter().enumerate() {
        for (sums, factor) in sums.iter_mut().zip([a[k], b[k], c[k], d[k]]) {
            for (sum, value) in sums.iter_mut().zip(columns) {
                *sum += factor * value;
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        for (element, sum) in product[row * side..].iter_mut().zip(sums) {
            *element += sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_add_up_to_the_product() {
        for (side, blocks) in [(4, 1), (8, 2), (160, 4), (136, 1)] {
            let problem = Problem { side, rounds: 1 };
            let mut part = Part::new(problem, 0, side);
            let right: Vec<_> = (0..side * side).map(|at| problem.right(at)).collect();
            for (block, rows) in right.chunks(side * side / blocks).enumerate() {
                part.add(block * side / blocks, rows);
            }
            for (at, found) in part.into_product().into_iter().enumerate() {
                let (row, column) = (at / side, at % side);
                let term = |k| problem.left(row * side + k) * problem.right(k * side + column);
                assert_eq!(found, (0..side).map(term).sum::<f64>());
            }
        }
    }

    #[test]
    fn rows_that_cannot_be_divided_are_refused() {
        let problem = Problem {
            side: 64,
            rounds: 1,
        };
        assert_eq!(problem.rows(4).unwrap(), 16);
        assert!(problem.rows(3).is_err());
    }
}
