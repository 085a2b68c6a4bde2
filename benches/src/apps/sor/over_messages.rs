//! The nodes exchange border rows as messages between ranks.

use super::grid::{Grid, Problem, Real};
use crate::Failure;
use crate::apps::clock::Clock;
use crate::apps::comm::{Comm, sendrecv};

/// Relaxes the part of this rank.
fn run<F: Real>(
    comm: &dyn Comm,
    clock: &Clock<'_>,
    problem: Problem,
    mut grid: Grid<F>,
) -> Result<Grid<F>, Failure> {
    let above = comm.rank().checked_sub(1);
    let below = Some(comm.rank() + 1).filter(|rank| *rank < comm.size());
    let last = grid.rows() - 1;
    let mut border = vec![F::from(0.0); problem.columns / 2];
    clock.measure(|| {
        for phase in 0..2 * problem.iterations {
            let color = phase % 2;
            grid.relax(color);
            sendrecv(comm, above, grid.row(color, 1), below, &mut border)?;
            if below.is_some() {
                grid.row_mut(color, last).copy_from_slice(&border);
            }
            sendrecv(comm, below, grid.row(color, last - 1), above, &mut border)?;
            if above.is_some() {
                grid.row_mut(color, 0).copy_from_slice(&border);
            }
        }
        Ok(())
    })?;
    Ok(grid)
}

/// Relaxes the part of this rank, and returns its points.
pub(in crate::apps) fn run_plain<F: Real>(
    comm: &dyn Comm,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let rows = problem.rows_of(comm.rank(), comm.size());
    let grid = run(comm, clock, problem, Grid::<F>::new(problem, rows))?;
    Ok(grid.numbers().collect())
}
