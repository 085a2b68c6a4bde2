//! Red-black successive over-relaxation over active messages, until no point changes much any more:
//! in each half iteration, nodes put border rows into the buffers of their neighbours, and after
//! each iteration they vote whether to go on.
//!
//! The paper on optimistic active messages, section 4.2.2 and figure 6, relaxes 482 rows of 80
//! doubles. Optimistic execution is 10 to 30 % faster than a thread per call. Hand-written active
//! messages are 15 to 30 % faster than optimistic ones, because they store rows where the kernel
//! reads them, and the others copy them out of shared objects.
//!
//! In the driver `jstream`, a buffer is an object with a guard: a call that puts a row waits until
//! the buffer is empty. The handler runs in the receive loop and leaves it only if it has to wait.
//! `jstream-threads` runs each call on a thread of its own. `jstream-bare` stands for the
//! hand-written program: its handler stores the row in the grid, and runs in the receive loop
//! unless the kernel holds the lock of the grid. The vote is a reduction between ranks in all of
//! them, as it is a primitive of the machine in the paper.
//!
//! Starting a thread takes longer than a half iteration. No driver reaches a speed-up of 2 on this
//! small grid: each iteration has three exchanges or votes, and the version for threads that wait
//! at barriers is slower than the sequential one.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod over_peers;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use super::app::{Answer, App};
use super::clock::Clock;
use super::lock;
use super::node::Node;
use super::size::Size;
use super::sor::grid::{Grid, Problem};
use super::sor::relax_part;
use crate::Failure;

/// The application.
pub(super) struct AmSor;

const OPTIMISTIC: &str = "jstream";
const BARE: &str = "jstream-bare";
const THREADS: &str = "jstream-threads";

/// Change by which a point is not settled yet.
const LIMIT: f64 = 1e-6;

/// Returns the grid, and the number of iterations after which the nodes give up.
fn problem(size: Size) -> Problem {
    let (rows, columns) = size.pick((42, 16), (482, 80));
    Problem {
        rows,
        columns,
        iterations: 10_000,
    }
}

/// Runs iterations until no point is unsettled. `iteration` returns the number of unsettled points
/// of all nodes. Returns the number of iterations.
fn iterate(
    problem: Problem,
    mut iteration: impl FnMut(u64) -> Result<u64, Failure>,
) -> Result<u64, Failure> {
    let most = problem.iterations as u64;
    for number in 0..most {
        if iteration(number)? == 0 {
            return Ok(number + 1);
        }
    }
    Err(format!("points are not settled after {most} iterations").into())
}

/// Returns the result of a node, of which that of the first one begins with the number of
/// iterations.
fn answer(node: usize, iterations: u64, grid: &Grid<f64>) -> Answer {
    let iterations = (node == 0).then_some(iterations as f64);
    iterations.into_iter().chain(grid.numbers()).collect()
}

impl App for AmSor {
    fn name(&self) -> &'static str {
        "am-sor"
    }

    fn about(&self) -> &'static str {
        "Relaxation of a grid over active messages, until it is settled"
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[OPTIMISTIC, BARE, THREADS]
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let problem = problem(size);
        let mut grid = Grid::new(problem, problem.rows_of(0, 1));
        let iterations = clock.measure(|| {
            iterate(problem, |_| {
                grid.relax(0);
                grid.relax(1);
                Ok(grid.unsettled(0, LIMIT))
            })
        })?;
        clock.worked(iterations);
        Ok(answer(0, iterations, &grid))
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
        let (problem, threads) = (problem(size), threads as usize);
        let part = |thread| Mutex::new(Grid::new(problem, problem.rows_of(thread, threads)));
        let grids: Vec<_> = (0..threads).map(part).collect();
        let iterations = clock.measure(|| share(problem, &grids))?;
        clock.worked(iterations);
        let parts = grids.iter().enumerate();
        let parts = parts.flat_map(|(thread, grid)| answer(thread, iterations, &lock(grid)));
        Ok(parts.collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = problem(node.size);
        let rows = problem.rows_of(node.index(), node.count());
        let grid = Grid::new(problem, rows);
        let (iterations, grid) = match node.subject {
            BARE => over_peers::in_grid(node, problem, grid)?,
            subject => over_peers::in_buffers(node, problem, grid, subject == THREADS)?,
        };
        if node.index() == 0 {
            node.clock.worked(iterations);
        }
        Ok(answer(node.index(), iterations, &grid))
    }
}

/// Relaxes parts of a grid with a thread for each. Returns the number of iterations.
fn share(problem: Problem, grids: &[Mutex<Grid<f64>>]) -> Result<u64, Failure> {
    let barrier = Barrier::new(grids.len());
    // The votes of two iterations: one is collected while the other one may still be read.
    let votes = [AtomicU64::new(0), AtomicU64::new(0)];
    let work = |thread: usize| {
        iterate(problem, |number| {
            relax_part(grids, &barrier, thread, 0);
            relax_part(grids, &barrier, thread, 1);
            let [vote, other] = match number % 2 {
                0 => [&votes[0], &votes[1]],
                _ => [&votes[1], &votes[0]],
            };
            if let Some(own) = grids.get(thread) {
                vote.fetch_add(lock(own).unsettled(0, LIMIT), Ordering::Relaxed);
            }
            if thread == 0 {
                // All threads have passed barriers since they read it.
                other.store(0, Ordering::Relaxed);
            }
            barrier.wait();
            Ok(vote.load(Ordering::Relaxed))
        })
    };
    thread::scope(|scope| {
        for thread in 1..grids.len() {
            let work = &work;
            scope.spawn(move || work(thread).map_err(drop));
        }
        work(0)
    })
}
