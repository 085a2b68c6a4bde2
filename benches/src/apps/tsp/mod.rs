//! The travelling salesman problem: branch and bound with a central queue of jobs, and a bound that
//! all nodes share.
//!
//! The thesis on jstreams, section 4.3.1, runs 17 cities over remote calls; figure 4.6 shows a
//! speed-up that hardly depends on the layer below the calls, because jobs are coarse. Which routes
//! are extended depends on when a node learns of a shorter tour, so runs are compared by the time
//! per extended route (metric `per_unit`). The application `tsp-preset` begins with the length of
//! the shortest tour, as the paper on optimistic active messages does (section 4.2.3), which fixes
//! the number of extended routes.
//!
//! A node fetches its next job while the current one runs.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

pub(in crate::apps) mod cities;
mod over_rmi;

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use self::cities::{Cities, Search};
use super::app::{Answer, App, COPYING, IN_PLACE};
use super::clock::Clock;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application.
pub(super) struct Tsp {
    /// True if the search begins with the length of the shortest tour.
    pub(super) preset: bool,
}

/// Seed of the places of the cities.
const SEED: u64 = 2;

/// A data set.
struct Problem {
    cities: Cities,
    /// Cities in the route of a job.
    job: usize,
    /// Length of a tour that is known before the search.
    bound: u32,
}

impl Problem {
    fn routes(&self) -> Vec<Vec<u8>> {
        self.cities.routes(self.job)
    }
}

/// Returns the number of cities, and that of the cities in the route of a job.
fn sizes(size: Size) -> (usize, usize) {
    size.pick((9, 3), (17, 4))
}

impl Tsp {
    fn problem(&self, size: Size) -> Problem {
        let (count, job) = sizes(size);
        let cities = Cities::new(count, SEED);
        let bound = if self.preset {
            cities.shortest_tour()
        } else {
            u32::MAX
        };
        Problem { cities, job, bound }
    }

    /// Returns the result: with a preset bound, the number of extended routes is part of it.
    fn answer(&self, shortest: u32, expanded: u64) -> Answer {
        let mut answer = vec![f64::from(shortest)];
        if self.preset {
            answer.push(expanded as f64);
        }
        answer
    }
}

impl App for Tsp {
    fn name(&self) -> &'static str {
        if self.preset { "tsp-preset" } else { "tsp" }
    }

    fn about(&self) -> &'static str {
        if self.preset {
            "The same with the shortest tour's length known, so that all runs do the same work"
        } else {
            "Travelling salesman: branch and bound with a central queue of jobs"
        }
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[IN_PLACE, COPYING]
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let problem = self.problem(size);
        let bound = AtomicU32::new(problem.bound);
        let mut search = Search {
            cities: &problem.cities,
            bound: &bound,
            improved: drop,
            expanded: 0,
        };
        clock.measure(|| {
            for route in problem.routes() {
                search.run(&route);
            }
            Ok(())
        })?;
        let expanded = search.expanded;
        clock.worked(expanded);
        Ok(self.answer(bound.into_inner(), expanded))
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
        let problem = self.problem(size);
        let bound = AtomicU32::new(problem.bound);
        let expanded = clock.measure(|| Ok(share(&problem, &bound, threads)))?;
        clock.worked(expanded);
        Ok(self.answer(bound.into_inner(), expanded))
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let problem = self.problem(node.size);
        let (shortest, expanded) = over_rmi::run(node, &problem, node.subject == COPYING)?;
        node.clock.worked(expanded);
        let expanded = node.sum(expanded)?;
        Ok(match node.index() {
            0 => self.answer(shortest, expanded),
            _ => Vec::new(),
        })
    }
}

/// Searches with threads that share the queue and the bound. Returns the number of routes that
/// were extended.
fn share(problem: &Problem, bound: &AtomicU32, threads: u32) -> u64 {
    let (routes, taken) = (problem.routes(), AtomicUsize::new(0));
    let work = || {
        let mut search = Search {
            cities: &problem.cities,
            bound,
            improved: drop,
            expanded: 0,
        };
        while let Some(route) = routes.get(taken.fetch_add(1, Ordering::Relaxed)) {
            search.run(route);
        }
        search.expanded
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let counts = workers.into_iter().map(|worker| worker.join());
        // A thread that panicked has expanded nothing, which the comparison of the result finds.
        counts.map(Result::unwrap_or_default).sum()
    })
}
