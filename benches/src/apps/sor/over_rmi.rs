//! The nodes bring one another border rows by remote calls.

use super::grid::{Grid, Problem, Real};
use crate::Failure;
use crate::apps::exchange::{Element, Exchange};
use crate::apps::node::Node;

/// Channel of the rows of the node above.
const FROM_ABOVE: usize = 0;

/// Channel of the rows of the node below.
const FROM_BELOW: usize = 1;

/// Relaxes the part of this node.
pub(super) fn run<F: Real + Element>(
    node: &Node<'_>,
    problem: Problem,
    mut grid: Grid<F>,
    copying: bool,
) -> Result<Grid<F>, Failure> {
    let exchange = Exchange::start(node, 2, copying)?;
    let above = node.index().checked_sub(1);
    let below = Some(node.index() + 1).filter(|below| *below < node.count());
    let last = grid.rows() - 1;
    let half = problem.columns / 2;
    node.clock.measure(|| {
        for phase in 0..2 * problem.iterations as u64 {
            let color = (phase % 2) as usize;
            grid.relax(color);
            let bring = |to: usize, channel, row| {
                exchange.send(to, channel, phase, (grid.row(color, row), &[]))
            };
            above.map_or(Ok(()), |above| bring(above, FROM_BELOW, 1))?;
            below.map_or(Ok(()), |below| bring(below, FROM_ABOVE, last - 1))?;
            if above.is_some() {
                let row = exchange.take(FROM_ABOVE, phase)?;
                grid.row_mut(color, 0).copy_from_slice(row.first(half)?);
            }
            if below.is_some() {
                let row = exchange.take(FROM_BELOW, phase)?;
                grid.row_mut(color, last).copy_from_slice(row.first(half)?);
            }
        }
        exchange.finish()
    })?;
    Ok(grid)
}
