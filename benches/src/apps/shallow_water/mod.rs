//! The shallow-water equations: a master sends the grid to workers, which exchange border rows in
//! each time step and return their parts as objects.
//!
//! The paper on Motor, section 9.2, runs 100 steps with grids from 8 x 8 to 512 x 512 points in
//! three processes, a master and two workers, on two processors. The results return as objects of
//! the class `Res` (figure 13), which has a block and its position. Figure 17: this transfer takes
//! 2.6 times as long with the serializer of .NET, and nearly 8 times with that of SSCLI, as with
//! Motor, and less with a datatype of native MPI. Figures 15 to 20: the largest grids are bound by
//! the computation. The paper gives no speed-ups.
//!
//! Here, the first copy of the grid travels as an object, too. In this program, the work of a step
//! is fused to two passes over the rows, and a worker gets one border of all fields from each
//! neighbour, since it computes intermediate fields of one more row itself.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod model;
mod over_objects;
mod workers;

use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use self::model::{Part, Problem, Whole};
use self::over_objects::{Copies, Objects};
use super::app::{Answer, App, COPYING, IN_PLACE, RANKS};
use super::clock::Clock;
use super::costs::Cost;
use super::node::Node;
use super::setup::Setup;
use super::size::Size;
use crate::Failure;

/// The application with a square grid.
pub(super) struct ShallowWater {
    pub(super) name: &'static str,
    /// Points in each direction.
    pub(super) side: usize,
}

/// Objects that the master sends and receives with two workers.
const OBJECTS: usize = 4;

impl App for ShallowWater {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "Shallow-water model with a master and two workers, whose results are objects"
    }

    fn setups(&self) -> &'static [Setup] {
        &Setup::MASTER_AND_TWO
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING, RANKS]
    }

    fn has_long(&self) -> bool {
        self.side == 512
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        self.shared_memory(size, 2, clock)
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
        let problem = Problem::of(self.side, size);
        let workers = threads as usize - 1;
        let mut whole = Whole::new(problem);
        clock.measure(|| {
            let part = |worker| {
                let rows = problem.rows_of(worker, workers);
                Mutex::new(Part::new(problem, rows, whole.rows()))
            };
            let parts: Vec<_> = (0..workers).map(part).collect();
            share(&parts, problem.steps);
            for part in parts {
                let part = part.into_inner().unwrap_or_else(PoisonError::into_inner);
                part.with_rows(|rows| whole.put(rows));
            }
            Ok(())
        })?;
        Ok(whole.into_numbers())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = Problem::of(self.side, node.size);
        let (rank, clock) = (&**node.world, &node.clock);
        match node.subject {
            RANKS => workers::run_plain(rank, clock, problem),
            COPYING => workers::run(rank, &Copies(node), clock, problem),
            _ => workers::run(rank, &Objects(node), clock, problem),
        }
    }

    fn runs_over_mpi(&self) -> bool {
        true
    }

    fn serialization(&self, subject: &str, size: Size, _: usize) -> Result<Option<Cost>, Failure> {
        let Problem { side, .. } = Problem::of(self.side, size);
        // The grid goes to each of two workers, and half of it returns from each.
        let points = side * side * 3 / OBJECTS;
        match subject {
            IN_PLACE => over_objects::cost(points, false).map(Some),
            COPYING => over_objects::cost(points, true).map(Some),
            _ => Ok(None),
        }
    }

    fn calls_in_turn(&self) -> bool {
        true
    }
}

/// Computes all time steps with a thread for each part, which copies the borders itself.
fn share(parts: &[Mutex<Part>], steps: usize) {
    let barrier = Barrier::new(parts.len());
    let lock = |index: usize| {
        let part: &Mutex<Part> = &parts[index];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    };
    let work = |own: usize| {
        let next = (own + 1) % parts.len();
        let mut borders = [(); 2].map(|()| vec![0.0; lock(own).border_len()]);
        for _ in 0..steps {
            lock(own).step();
            barrier.wait();
            let [down, up] = &mut borders;
            lock(own).border(true, down);
            lock(next).border(false, up);
            lock(own).set_border(true, up);
            lock(next).set_border(false, down);
            barrier.wait();
        }
    };
    if parts.len() == 1 {
        return work(0);
    }
    thread::scope(|scope| {
        for own in 0..parts.len() {
            let work = &work;
            scope.spawn(move || work(own));
        }
    });
}
