//! Two colliding galaxies: the N-body method of Barnes and Hut, with bodies that are divided anew
//! among the ranks in each step.
//!
//! The paper on MPJ Express, section 6.3, runs the collision of two galaxies with Java Gadget-2, a
//! simulation code of which this application stands for the part with gravity. Figure 17: with 2, 4
//! and 8 cores, MPJ Express is faster in a process with threads than in several processes; the gain
//! is modest, since communication is a small part of the time. The text gives no numbers.
//!
//! Each rank builds the same tree of all bodies, computes the bodies of neighbouring leaves that
//! took an equal share of the work in the step before, and gets the others by one collective
//! operation. The attraction of a leaf's bodies is computed from one list, so that the compiler can
//! vectorise it. The results of all versions are equal to the last bit.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod attraction;
mod galaxies;
mod over_messages;
mod over_objects;
mod tree;

use std::thread;

use self::galaxies::{Galaxies, Problem};
use super::app::{Answer, App, COPYING, IN_PLACE, RANKS};
use super::clock::Clock;
use super::costs::Cost;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application.
pub(super) struct NBody;

impl App for NBody {
    fn name(&self) -> &'static str {
        "nbody"
    }

    fn about(&self) -> &'static str {
        "Barnes-Hut simulation of two colliding galaxies"
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING, RANKS]
    }

    fn has_long(&self) -> bool {
        true
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(size);
        let mut galaxies = Galaxies::new(problem);
        clock.measure(|| {
            for _ in 0..problem.steps {
                let tree = galaxies.tree();
                let leaves = 0..tree.leaves();
                let moved = galaxies.advance(&tree, &leaves);
                galaxies.place(&tree, &leaves, &moved);
            }
            Ok(())
        })?;
        Ok(galaxies.into_numbers())
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
        let problem = Problem::of(size);
        let mut galaxies = Galaxies::new(problem);
        clock.measure(|| {
            for _ in 0..problem.steps {
                share(&mut galaxies, threads as usize)?;
            }
            Ok(())
        })?;
        Ok(galaxies.into_numbers())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(node.size);
        let (rank, clock) = (&**node.world, &node.clock);
        let exchange = match node.subject {
            RANKS => return over_messages::run_plain(rank, clock, problem),
            COPYING => over_objects::exchange_copies,
            _ => over_objects::exchange,
        };
        let mut exchange = |own: &_, counts: &_, all: &mut _| exchange(node, own, counts, all);
        over_messages::run(rank, &mut exchange, clock, problem)
    }

    fn runs_over_mpi(&self) -> bool {
        true
    }

    fn serialization(
        &self,
        subject: &str,
        size: Size,
        nodes: usize,
    ) -> Result<Option<Cost>, Failure> {
        let bodies = Problem::of(size).bodies / nodes;
        let cost = match subject {
            IN_PLACE => over_objects::cost(bodies, false)?,
            COPYING => over_objects::cost(bodies, true)?,
            _ => return Ok(None),
        };
        Ok(Some(cost.read_by(nodes - 1)))
    }
}

/// Computes a time step at threads that share the tree.
fn share(galaxies: &mut Galaxies, threads: usize) -> Result<(), Failure> {
    let tree = galaxies.tree();
    let parts = galaxies.parts(&tree, threads);
    let moved = thread::scope(|scope| {
        let (tree, galaxies) = (&tree, &*galaxies);
        let start = |part| scope.spawn(move || galaxies.advance(tree, part));
        let started: Vec<_> = parts.iter().map(start).collect();
        let ended = started.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<Result<Vec<_>, _>>()
    });
    let moved = moved.map_err(|_| "a thread panicked")?;
    for (part, moved) in parts.iter().zip(moved) {
        galaxies.place(&tree, part, &moved);
    }
    Ok(())
}
