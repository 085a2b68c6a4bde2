//! Blocks of the right matrix go round the ring of ranks, from one to the next.

use super::kernel::{Part, Problem};
use crate::Failure;
use crate::apps::clock::Clock;
use crate::apps::comm::{Comm, sendrecv};

/// A block of the right matrix that goes round the ring.
pub(in crate::apps) trait Block {
    /// Runs `take` with the elements.
    fn with(&self, take: &mut dyn FnMut(&[f64])) -> Result<(), Failure>;

    /// Sends the block to the next rank, and receives that of the rank before.
    fn pass_on(&mut self, next: usize, before: usize) -> Result<(), Failure>;
}

/// A block whose elements are sent from one array and received into another.
pub(in crate::apps) struct Arrays<'a> {
    comm: &'a dyn Comm,
    now: Vec<f64>,
    next: Vec<f64>,
}

impl<'a> Arrays<'a> {
    pub(in crate::apps) fn new(comm: &'a dyn Comm, elements: Vec<f64>) -> Self {
        Self {
            comm,
            next: vec![0.0; elements.len()],
            now: elements,
        }
    }
}

impl Block for Arrays<'_> {
    fn with(&self, take: &mut dyn FnMut(&[f64])) -> Result<(), Failure> {
        take(&self.now);
        Ok(())
    }

    fn pass_on(&mut self, next: usize, before: usize) -> Result<(), Failure> {
        sendrecv(
            self.comm,
            Some(next),
            &self.now,
            Some(before),
            &mut self.next,
        )?;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }
}

/// Returns the elements of the right matrix that are at this rank first.
pub(in crate::apps) fn own_elements(
    comm: &dyn Comm,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let length = problem.rows(comm.size())? * problem.side;
    let elements = comm.rank() * length..(comm.rank() + 1) * length;
    Ok(elements.map(|at| problem.right(at)).collect())
}

/// Multiplies, and returns the rows of this rank. After each multiplication, all blocks are where
/// they were before.
pub(in crate::apps) fn run(
    comm: &dyn Comm,
    block: &mut dyn Block,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let (rank, size) = (comm.rank(), comm.size());
    let rows = problem.rows(size)?;
    let mut part = Part::new(problem, rank, rows);
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    clock.measure(|| {
        for _ in 0..problem.rounds {
            for hop in 0..size {
                let origin = (rank + size - hop) % size;
                block.with(&mut |elements| part.add(origin * rows, elements))?;
                block.pass_on(next, before)?;
            }
        }
        Ok(())
    })?;
    Ok(part.into_product())
}

/// Multiplies with blocks in arrays.
pub(in crate::apps) fn run_plain(
    comm: &dyn Comm,
    clock: &Clock<'_>,
    problem: Problem,
) -> Result<Vec<f64>, Failure> {
    let mut block = Arrays::new(comm, own_elements(comm, problem)?);
    run(comm, &mut block, clock, problem)
}
