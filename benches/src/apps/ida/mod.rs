//! IDA* on the 15-puzzle: repeated depth-first searches with a growing limit, queues at all nodes,
//! and work stealing.
//!
//! The thesis on jstreams, section 4.3.1, solves a position whose solution has 58 moves; figure 4.6
//! shows a speed-up that suffers from idle nodes that ask for work in a tight loop. Here, a node
//! that found no work pauses before it asks again. All iterations are searched completely, so that
//! the number of examined positions is the same in each run, and is checked.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod over_rmi;
mod puzzle;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use self::puzzle::{Position, Tally};
use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application.
pub(super) struct Ida;

/// Number of moves up to which the successors of a position are jobs of their own.
const JOB_MOVES: u8 = 14;

/// Returns the position that is solved.
fn first(size: Size) -> Position {
    Position::first(size.pick(QUICK, FULL))
}

/// A position with a solution of 58 moves.
const FULL: u64 = 0x4372_e08d_c61b_a5f9;

/// A position with a solution of 34 moves.
const QUICK: u64 = 0xf20a_75bc_36ed_1498;

/// Runs `iteration` with growing limits until it finds a solution. Returns the number of moves of
/// the solution, the number of solutions, and the number of positions that all iterations and the
/// last one examined.
fn iterate(
    first: Position,
    mut iteration: impl FnMut(u8) -> Result<Tally, Failure>,
) -> Result<(Answer, u64), Failure> {
    let (mut limit, mut all) = (first.estimate, 0);
    loop {
        let tally = iteration(limit)?;
        all += tally.expanded;
        if tally.solutions > 0 {
            let answer = [
                f64::from(limit),
                tally.solutions as f64,
                tally.expanded as f64,
            ];
            return Ok((answer.to_vec(), all));
        }
        if tally.next_limit <= limit || tally.next_limit == u8::MAX {
            return Err("the position has no solution".into());
        }
        limit = tally.next_limit;
    }
}

impl App for Ida {
    fn name(&self) -> &'static str {
        "ida"
    }

    fn about(&self) -> &'static str {
        "IDA* on the 15-puzzle with work stealing"
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let first = first(size);
        let (answer, all) = clock.measure(|| {
            iterate(first, |limit| {
                let mut tally = Tally::default();
                tally.search(first, limit);
                Ok(tally)
            })
        })?;
        clock.worked(all);
        Ok(answer)
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
        let first = first(size);
        let (answer, all) =
            clock.measure(|| iterate(first, |limit| Ok(share(first, limit, threads))))?;
        clock.worked(all);
        Ok(answer)
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        over_rmi::run(node, first(node.size), node.subject == COPYING)
    }
}

/// Searches with threads that take the positions after [`JOB_MOVES`] moves from one list.
fn share(first: Position, limit: u8, threads: u32) -> Tally {
    let mut all = Tally::default();
    let mut jobs = vec![first];
    for _ in 0..JOB_MOVES {
        let mut next = Vec::new();
        for job in jobs {
            all.expand(job, limit, |_, successor| next.push(successor));
        }
        jobs = next;
    }
    let (taken, all) = (AtomicUsize::new(0), Mutex::new(all));
    let work = || {
        let mut tally = Tally::default();
        while let Some(job) = jobs.get(taken.fetch_add(1, Ordering::Relaxed)) {
            tally.search(*job, limit);
        }
        super::lock(&all).add(tally);
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    *super::lock(&all)
}
