//! Red-black successive over-relaxation: iterations over a grid whose rows are distributed, with an
//! exchange of border rows in each half iteration.
//!
//! The thesis on jstreams, section 4.3.1, runs 100 iterations over 1600 x 1600 doubles, with 400
//! calls of each node that send 1600 doubles (table 4.5); serialization is 2.73 % of the time with
//! a copying serializer (table 4.6), and reading in place saves 3.52 % (table 5.1). This version
//! sends only the points that changed, so a call has 800 doubles.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

pub(in crate::apps) mod grid;
mod over_messages;
mod over_rmi;

use std::marker::PhantomData;
use std::sync::{Barrier, Mutex};
use std::thread;

use self::grid::{Grid, Problem, Real};
use super::app::{Answer, App, COPYING, IN_PLACE, RANKS};
use super::clock::Clock;
use super::costs::Cost;
use super::exchange::{self, Element};
use super::lock;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application with points of a type.
pub(super) struct Sor<F> {
    name: &'static str,
    about: &'static str,
    point: PhantomData<fn() -> F>,
}

pub(super) const DOUBLES: Sor<f64> = Sor {
    name: "sor",
    about: "Red-black successive over-relaxation of a grid of doubles",
    point: PhantomData,
};

pub(super) const FLOATS: Sor<f32> = Sor {
    name: "sor-float",
    about: "Red-black successive over-relaxation of a grid of floats",
    point: PhantomData,
};

impl<F: Real + Element> App for Sor<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING, RANKS]
    }

    fn has_long(&self) -> bool {
        true
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(size);
        let mut grid = Grid::<F>::new(problem, problem.rows_of(0, 1));
        clock.measure(|| {
            for _ in 0..problem.iterations {
                grid.relax(0);
                grid.relax(1);
            }
            Ok(())
        })?;
        Ok(grid.numbers().collect())
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn shared_memory(
        &self,
        size: Size,
        threads: u32,
        clock: &Clock<'_>,
    ) -> Result<Answer, Failure> {
        let (problem, threads) = (Problem::of(size), threads as usize);
        let part = |thread| {
            let grid = Grid::<F>::new(problem, problem.rows_of(thread, threads));
            Mutex::new(grid)
        };
        let grids: Vec<_> = (0..threads).map(part).collect();
        clock.measure(|| {
            share(&grids, problem.iterations);
            Ok(())
        })?;
        let numbers = |grid: &Mutex<Grid<F>>| lock(grid).numbers().collect::<Vec<_>>();
        Ok(grids.iter().flat_map(numbers).collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(node.size);
        if node.subject == RANKS {
            return over_messages::run_plain::<F>(&**node.world, &node.clock, problem);
        }
        let rows = problem.rows_of(node.index(), node.count());
        let grid = Grid::<F>::new(problem, rows);
        let grid = match node.subject {
            COPYING => over_rmi::run(node, problem, grid, true)?,
            _ => over_rmi::run(node, problem, grid, false)?,
        };
        Ok(grid.numbers().collect())
    }

    fn runs_over_mpi(&self) -> bool {
        true
    }

    fn serialization(&self, subject: &str, size: Size, _: usize) -> Result<Option<Cost>, Failure> {
        let row = Problem::of(size).columns / 2;
        match subject {
            COPYING => exchange::cost::<F>(row, 0, true).map(Some),
            IN_PLACE => exchange::cost::<F>(row, 0, false).map(Some),
            _ => Ok(None),
        }
    }
}

/// Relaxes parts of a grid with a thread for each, which copies the border rows itself.
fn share<F: Real>(grids: &[Mutex<Grid<F>>], iterations: usize) {
    let barrier = Barrier::new(grids.len());
    let work = |thread: usize| {
        for phase in 0..2 * iterations {
            relax_part(grids, &barrier, thread, phase % 2);
        }
    };
    thread::scope(|scope| {
        for thread in 0..grids.len() {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}

/// Updates the points of a color in the part of a thread, and copies the rows at the border to the
/// next part. All threads call this function with the same color.
pub(super) fn relax_part<F: Real>(
    grids: &[Mutex<Grid<F>>],
    barrier: &Barrier,
    thread: usize,
    color: usize,
) {
    if let Some(own) = grids.get(thread) {
        lock(own).relax(color);
    }
    barrier.wait();
    if let Some([own, next]) = grids.get(thread..thread + 2) {
        copy_border(&mut lock(own), &mut lock(next), color);
    }
    barrier.wait();
}

/// Copies the rows at the border between two parts.
fn copy_border<F: Real>(above: &mut Grid<F>, below: &mut Grid<F>, color: usize) {
    let last = above.rows() - 1;
    below
        .row_mut(color, 0)
        .copy_from_slice(above.row(color, last - 1));
    above
        .row_mut(color, last)
        .copy_from_slice(below.row(color, 1));
}
