//! The grid of a node, and the kernel.

use crate::apps::size::Size;

/// Width and height of a grid, and number of iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::apps) struct Problem {
    pub(in crate::apps) rows: usize,
    /// Even number of columns.
    pub(in crate::apps) columns: usize,
    pub(in crate::apps) iterations: usize,
}

impl Problem {
    pub(in crate::apps) fn of(size: Size) -> Self {
        let side = size.pick(200, 1600);
        Self {
            rows: side,
            columns: side,
            iterations: size.iterations(6, 100, 15),
        }
    }

    /// Returns the rows of a node. The edge of the grid belongs to none.
    pub(in crate::apps) fn rows_of(self, node: usize, nodes: usize) -> std::ops::Range<usize> {
        let inner = self.rows - 2;
        1 + inner * node / nodes..1 + inner * (node + 1) / nodes
    }
}

/// Relaxation factor.
const OMEGA: f64 = 1.5;

/// A floating-point type of the grid.
pub(in crate::apps) trait Real:
    Copy
    + Send
    + Sync
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + PartialOrd
    + From<f32>
    + Into<f64>
    + zerocopy::IntoBytes
    + zerocopy::FromBytes
    + zerocopy::Immutable
    + 'static
{
}

impl Real for f64 {}
impl Real for f32 {}

/// Rows of a grid. The points of a row alternate between red and black, like the squares of a
/// chess board. The points of each color are stored on their own, so that the kernel reads and
/// writes neighbouring memory: the point at column `j` has index `j / 2` among those of its color.
///
/// The first and the last row are copies of the neighbours' rows, or the edge of the whole grid.
pub(in crate::apps) struct Grid<F> {
    /// Points of a color in a row.
    half: usize,
    /// Rows including the first and the last.
    rows: usize,
    /// Row of the whole grid that row 0 is.
    first: usize,
    colors: [Vec<F>; 2],
}

impl<F: Real> Grid<F> {
    /// Creates the part of the grid with `rows` of the whole grid, whose rows before and behind are
    /// copies. The edge of the whole grid has fixed values.
    pub(in crate::apps) fn new(problem: Problem, rows: std::ops::Range<usize>) -> Self {
        let (first, end) = (rows.start - 1, rows.end + 1);
        let half = problem.columns / 2;
        let mut colors = [Vec::new(), Vec::new()];
        for row in first..end {
            for (color, points) in colors.iter_mut().enumerate() {
                let shift = (row + color) % 2;
                points.extend((0..half).map(|k| at_start::<F>(problem, row, 2 * k + shift)));
            }
        }
        Self {
            half,
            rows: end - first,
            first,
            colors,
        }
    }

    /// Returns the number of rows including the first and the last.
    pub(in crate::apps) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the points of a color in a row.
    pub(in crate::apps) fn row(&self, color: usize, row: usize) -> &[F] {
        &self.colors[color][row * self.half..][..self.half]
    }

    /// Returns the points of a color in a row.
    pub(in crate::apps) fn row_mut(&mut self, color: usize, row: usize) -> &mut [F] {
        &mut self.colors[color][row * self.half..][..self.half]
    }

    /// Updates the points of a color in all rows but the first and the last.
    pub(in crate::apps) fn relax(&mut self, color: usize) {
        let [red, black] = &mut self.colors;
        let (own, others) = if color == 0 {
            (red, &*black)
        } else {
            (black, &*red)
        };
        let half = self.half;
        for row in 1..self.rows - 1 {
            let shift = (self.first + row + color) % 2;
            let (skip, neighbours) = neighbours(others, half, row, shift);
            relax_row(&mut own[row * half + skip..][..half - 1], neighbours);
        }
    }

    /// Returns the number of points of a color that an update would change by more than `limit`.
    pub(in crate::apps) fn unsettled(&self, color: usize, limit: F) -> u64 {
        let (own, others) = (&self.colors[color], &self.colors[1 - color]);
        let half = self.half;
        let counts = (1..self.rows - 1).map(|row| {
            let shift = (self.first + row + color) % 2;
            let (skip, neighbours) = neighbours(others, half, row, shift);
            unsettled_in_row(&own[row * half + skip..][..half - 1], neighbours, limit)
        });
        counts.sum()
    }

    /// Returns all rows but the first and the last as numbers.
    pub(in crate::apps) fn numbers(&self) -> impl Iterator<Item = f64> {
        (1..self.rows - 1).flat_map(move |row| {
            let shift = (self.first + row) % 2;
            (0..2 * self.half).map(move |j| {
                let color = (shift + j) % 2;
                self.row(color, row)[j / 2].into()
            })
        })
    }
}

/// Returns the index of the first point of a row that is not at the edge, and what the points of
/// the other color have above, below and beside it and those behind it. `shift` is 1 if the points
/// of the row are at odd columns.
fn neighbours<F>(others: &[F], half: usize, row: usize, shift: usize) -> (usize, [&[F]; 3]) {
    let at = |row: usize| &others[row * half..][..half];
    // Points at odd columns have their left neighbour at the same index, others their right one.
    // The first point of a row at even columns, and the last one of the others, is at the edge.
    let skip = 1 - shift;
    (skip, [&at(row - 1)[skip..], &at(row + 1)[skip..], at(row)])
}

/// Updates neighbouring points of a row. The point `k` is between `beside[k]` and `beside[k + 1]`.
#[inline(never)]
fn relax_row<F: Real>(own: &mut [F], [above, below, beside]: [&[F]; 3]) {
    let (quarter, omega) = (F::from(0.25), F::from(OMEGA as f32));
    let length = own.len();
    let (above, below) = (&above[..length], &below[..length]);
    let (left, right) = (&beside[..length], &beside[1..][..length]);
    for k in 0..length {
        let mean = (above[k] + below[k] + left[k] + right[k]) * quarter;
        own[k] = own[k] + omega * (mean - own[k]);
    }
}

/// Returns the number of points of a row that [`relax_row`] would change by more than `limit`.
#[inline(never)]
fn unsettled_in_row<F: Real>(own: &[F], [above, below, beside]: [&[F]; 3], limit: F) -> u64 {
    let (quarter, omega) = (F::from(0.25), F::from(OMEGA as f32));
    let length = own.len();
    let (above, below) = (&above[..length], &below[..length]);
    let (left, right) = (&beside[..length], &beside[1..][..length]);
    let mut count = 0;
    for k in 0..length {
        let mean = (above[k] + below[k] + left[k] + right[k]) * quarter;
        let change = omega * (mean - own[k]);
        // Squares make a loop without branches.
        count += u64::from(change * change > limit * limit);
    }
    count
}

/// Returns the value of a point before the first iteration.
fn at_start<F: Real>(problem: Problem, row: usize, column: usize) -> F {
    if row == 0 {
        F::from(1.0)
    } else if row + 1 == problem.rows || column == 0 || column + 1 == problem.columns {
        F::from(0.0)
    } else {
        // A pattern, so that an exchange of wrong rows changes the result.
        F::from(((row * 7 + column * 3) % 16) as f32 / 64.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Updates a grid that is stored by rows, with the definition of the method.
    fn by_definition(problem: Problem) -> Vec<f64> {
        let width = problem.columns;
        let mut grid: Vec<f64> = (0..problem.rows * width)
            .map(|at| at_start(problem, at / width, at % width))
            .collect();
        for _ in 0..problem.iterations {
            for color in 0..2 {
                for row in 1..problem.rows - 1 {
                    for column in 1..width - 1 {
                        if (row + column) % 2 == color {
                            let at = row * width + column;
                            let mean =
                                (grid[at - width] + grid[at + width] + grid[at - 1] + grid[at + 1])
                                    * 0.25;
                            grid[at] += OMEGA * (mean - grid[at]);
                        }
                    }
                }
            }
        }
        grid[width..(problem.rows - 1) * width].to_vec()
    }

    #[test]
    fn the_split_colors_follow_the_definition() {
        for rows in [3, 4, 9] {
            let problem = Problem {
                rows,
                columns: 8,
                iterations: 5,
            };
            let mut grid = Grid::<f64>::new(problem, 1..rows - 1);
            for _ in 0..problem.iterations {
                grid.relax(0);
                grid.relax(1);
            }
            let numbers: Vec<_> = grid.numbers().collect();
            assert_eq!(numbers, by_definition(problem));
        }
    }

    #[test]
    fn points_that_an_update_changes_are_not_settled() {
        let problem = Problem {
            rows: 7,
            columns: 8,
            iterations: 1,
        };
        let mut grid = Grid::<f64>::new(problem, 1..6);
        for color in [0, 1] {
            for limit in [0.0, 0.1] {
                let before: Vec<_> = (1..6).map(|row| grid.row(color, row).to_vec()).collect();
                let unsettled = grid.unsettled(color, limit);
                let old = grid.colors.clone();
                grid.relax(color);
                let pairs =
                    (1..6).flat_map(|row| grid.row(color, row).iter().zip(&before[row - 1]));
                let changed = pairs.filter(|(now, old)| (*now - *old).abs() > limit);
                assert_eq!(unsettled, changed.count() as u64, "{color}, {limit}");
                grid.colors = old;
            }
            grid.relax(color);
        }
    }
}
