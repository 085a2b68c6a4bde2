//! Propagation of electromagnetic waves: updates of a bipartite graph whose points are distributed.
//!
//! The thesis on jstreams, section 4.3.1, runs 100 iterations over a graph of 40,000 points with 20
//! edges each, of which 0 to 50 % lead to other nodes. The time of an edge grows with this fraction
//! (figure 4.8). With 8 nodes, each node makes 400 calls with about 2,300 doubles (table 4.5).
//! Serialization is 5.22 % of the time with a copying serializer (table 4.6), and reading in place
//! saves 4.85 % (table 5.1).
//!
//! There are three versions: a call for each remote edge, a call for each ghost (a remote point
//! that several edges lead to), and one call for each pair of nodes. The thesis measures the last
//! one. The others are slow by design, so they run fewer iterations: 2 and 10.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod fetching;
mod graph;
mod over_rmi;

use std::sync::{Barrier, Mutex};
use std::thread;

use self::graph::{FIELDS, Part, Partner, Problem};
use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::costs::{self, Cost};
use super::exchange;
use super::lock;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application with a version and a fraction of remote edges.
pub(super) struct Em3d {
    name: &'static str,
    about: &'static str,
    version: Version,
    remote_percent: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Naive,
    Ghosts,
    Aggregated,
}

pub(super) const LOCAL: Em3d = Em3d {
    name: "em3d-0",
    about: "Waves in a graph without remote edges",
    version: Version::Aggregated,
    remote_percent: 0,
};

pub(super) const AGGREGATED: Em3d = Em3d {
    name: "em3d",
    about: "Waves in a graph with 10 % remote edges, one call for each pair of nodes",
    version: Version::Aggregated,
    remote_percent: 10,
};

pub(super) const REMOTE: Em3d = Em3d {
    name: "em3d-50",
    about: "Waves in a graph with 50 % remote edges, one call for each pair of nodes",
    version: Version::Aggregated,
    remote_percent: 50,
};

pub(super) const GHOSTS: Em3d = Em3d {
    name: "em3d-ghost",
    about: "Waves in a graph with 10 % remote edges, a call for each ghost",
    version: Version::Ghosts,
    remote_percent: 10,
};

pub(super) const NAIVE: Em3d = Em3d {
    name: "em3d-naive",
    about: "Waves in a graph with 10 % remote edges, a call for each of them",
    version: Version::Naive,
    remote_percent: 10,
};

impl Em3d {
    fn problem(&self, size: Size) -> Problem {
        let (points, degree, iterations) = match self.version {
            Version::Aggregated => {
                let (points, degree) = size.pick((800, 10), (20_000, 20));
                (points, degree, size.iterations(5, 100, 25))
            }
            Version::Ghosts => size.pick((80, 5, 2), (20_000, 20, 10)),
            Version::Naive => size.pick((80, 5, 2), (20_000, 20, 2)),
        };
        Problem {
            points,
            degree,
            remote_percent: self.remote_percent,
            iterations,
        }
    }
}

/// Returns the result of a node: its points of both fields, point by point.
fn numbers(part: &Part) -> Answer {
    let pairs = part.own(0).iter().zip(part.own(1));
    pairs
        .flat_map(|(first, second)| [*first, *second])
        .collect()
}

impl App for Em3d {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    /// Returns the number of updates of edges.
    fn operations(&self, size: Size) -> usize {
        let problem = self.problem(size);
        FIELDS * problem.points * problem.degree * problem.iterations
    }

    fn has_long(&self) -> bool {
        matches!(self.version, Version::Aggregated)
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let problem = self.problem(size);
        let mut part = Part::new(problem, 0, 1);
        clock.measure(|| {
            for phase in 0..FIELDS * problem.iterations {
                part.update(phase % FIELDS);
            }
            Ok(())
        })?;
        Ok(numbers(&part))
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
        let (problem, threads) = (self.problem(size), threads as usize);
        let parts: Vec<_> = (0..threads)
            .map(|thread| Mutex::new(Part::new(problem, thread, threads)))
            .collect();
        let partners: Vec<_> = (0..threads)
            .map(|thread| Partner::all(problem, &lock(&parts[thread]), thread, threads))
            .collect();
        clock.measure(|| {
            share(problem, &parts, &partners);
            Ok(())
        })?;
        Ok(parts.iter().flat_map(|part| numbers(&lock(part))).collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = self.problem(node.size);
        if !matches!(node.count(), 2 | 4 | 8) {
            return Err(format!(
                "{} nodes; the graph can be distributed over 2, 4 or 8",
                node.count()
            )
            .into());
        }
        let part = Part::new(problem, node.index(), node.count());
        let copying = node.subject == COPYING;
        let part = match self.version {
            Version::Aggregated => over_rmi::run(node, problem, part, copying)?,
            Version::Ghosts => fetching::run(node, problem, part, true, copying)?,
            Version::Naive => fetching::run(node, problem, part, false, copying)?,
        };
        Ok(numbers(&part))
    }

    fn serialization(
        &self,
        subject: &str,
        size: Size,
        nodes: usize,
    ) -> Result<Option<Cost>, Failure> {
        let copying = subject == COPYING;
        if self.version == Version::Aggregated {
            // The ghosts of a node, of which each other node brings a part.
            let ghosts = Part::new(self.problem(size), 0, nodes).ghosts(0).len();
            let ghosts = ghosts / (nodes - 1);
            return exchange::cost::<f64>(ghosts, 0, copying).map(Some);
        }
        let (point, value) = ((0u64, 0u64), 0.5f64);
        Ok(Some(if copying {
            costs::copied(&point)? + costs::copied(&value)?
        } else {
            costs::in_place(&point)? + costs::in_place(&value)?
        }))
    }
}

/// Updates parts with a thread for each, which copies the ghosts itself.
fn share(problem: Problem, parts: &[Mutex<Part>], partners: &[Vec<Partner>]) {
    let barrier = Barrier::new(parts.len());
    let work = |thread: usize| {
        let mut values = Vec::new();
        for phase in 0..FIELDS * problem.iterations {
            let field = phase % FIELDS;
            lock(&parts[thread]).update(field);
            barrier.wait();
            for partner in &partners[thread] {
                values.clear();
                let needed = lock(&parts[thread]).ghosts(field)[partner.ghosts[field].clone()]
                    .iter()
                    .map(|ghost| ghost.place)
                    .collect::<Vec<_>>();
                let other = lock(&parts[partner.node]);
                values.extend(needed.into_iter().map(|place| other.own(field)[place]));
                drop(other);
                let mut own = lock(&parts[thread]);
                own.ghost_values(field)[partner.ghosts[field].clone()].copy_from_slice(&values);
            }
            barrier.wait();
        }
    };
    thread::scope(|scope| {
        for thread in 0..parts.len() {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}
