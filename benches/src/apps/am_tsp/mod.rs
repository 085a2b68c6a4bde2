//! The travelling salesman problem with a preset bound over active messages: a queue of jobs at
//! node 0, and a bound that is a replicated object.
//!
//! The paper on optimistic active messages, section 4.2.3 and figure 7, runs 12 cities with 969
//! routes of four cities, and with 6,912 routes of five. Optimistic execution is twice as fast as a
//! thread per call with the long jobs, and two to three times as fast with the short ones.
//! `jstream-threads` runs each call for a job on a thread of its own.
//!
//! Half of the jobs of this program need no call, since a node takes the next one while the current
//! one runs.
//!
//! The paper does not list its cities. There are 990 routes of four cities that begin with the
//! first of 12, and 7,920 of five. Leaving out one direction of each tour would halve these
//! numbers. Leaving out the routes that are not shorter than the preset bound removes few of the
//! former and more of the latter: random cities that have 969 routes of four below the bound have
//! 6,626 of five on average. So node 0 makes jobs of the routes below the bound, and the random
//! cities are a set for which these are 969 and 6,912.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use jstream::Received;
use jstream_transport::active::{Guarded, Handlers, Replicated, Request};

use super::app::{Answer, App};
use super::clock::Clock;
use super::node::Node;
use super::peers::Peers;
use super::size::Size;
use super::tsp::cities::{Cities, Search};
use crate::Failure;

/// The application.
pub(super) struct AmTsp {
    /// True for jobs of five instead of four cities.
    pub(super) fine: bool,
}

const INLINE: &str = "jstream";
const THREADS: &str = "jstream-threads";

/// Seed of the places of the cities. Of 12 cities, as many routes are shorter than the shortest
/// tour as in the paper.
const SEED: u64 = 1_090_349;

impl AmTsp {
    fn routes(&self, cities: &Cities, size: Size) -> Vec<Vec<u8>> {
        let length = size.pick(2, 4) + usize::from(self.fine);
        cities.routes_below(length, cities.shortest_tour())
    }
}

fn cities(size: Size) -> Cities {
    Cities::new(size.pick(8, 12), SEED)
}

impl App for AmTsp {
    fn name(&self) -> &'static str {
        if self.fine { "am-tsp-fine" } else { "am-tsp" }
    }

    fn about(&self) -> &'static str {
        if self.fine {
            "The same with 6,912 jobs"
        } else {
            "Travelling salesman over active messages, with a replicated bound and 969 jobs"
        }
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[INLINE, THREADS]
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let cities = cities(size);
        let bound = AtomicU32::new(cities.shortest_tour());
        let mut search = Search {
            cities: &cities,
            bound: &bound,
            improved: drop,
            expanded: 0,
        };
        clock.measure(|| {
            for route in self.routes(&cities, size) {
                search.run(&route);
            }
            Ok(())
        })?;
        let expanded = search.expanded;
        clock.worked(expanded);
        Ok(vec![f64::from(bound.into_inner()), expanded as f64])
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let cities = cities(node.size);
        let routes = self.routes(&cities, node.size);
        let (shortest, expanded) = run(node, &cities, routes, node.subject == THREADS)?;
        node.clock.worked(expanded);
        let expanded = node.sum(expanded)?;
        Ok(match node.index() {
            0 => vec![f64::from(shortest), expanded as f64],
            _ => Vec::new(),
        })
    }
}

fn next(jobs: &Guarded<Vec<Vec<u8>>>) -> Option<Vec<u8>> {
    jobs.lock().pop()
}

/// Answers with a route, or with nothing if there are no more.
fn answer(jobs: &Guarded<Vec<Vec<u8>>>, request: Request) {
    let route = next(jobs).unwrap_or_default();
    request.reply(0, &route);
}

/// Runs the part of this node. Returns the length of the shortest tour and the number of routes
/// that this node extended.
fn run(
    node: &Node<'_>,
    cities: &Cities,
    mut routes: Vec<Vec<u8>>,
    threads: bool,
) -> Result<(u32, u64), Failure> {
    routes.reverse();
    let jobs = Arc::new(Guarded::new(routes));
    let asked = jobs.clone();
    let bound = Arc::new(AtomicU32::new(cities.shortest_tour()));
    let member = (node.index() as u32, node.count() as u32);
    let shortest = Replicated::new(
        "shortest",
        member,
        bound.clone(),
        |bound, length: &Received<u32>| {
            bound.fetch_min(*length.get(), Ordering::Relaxed);
        },
    );
    let handlers = Handlers::builder().on("job", move |request| {
        if threads {
            let asked = asked.clone();
            drop(thread::spawn(move || answer(&asked, request)));
        } else {
            answer(&asked, request);
        }
    });
    let peers = Peers::start(node, &shortest.add_handlers(handlers).build())?;
    for (other, peer) in peers.others() {
        shortest.connect(other as u32, peer)?;
    }
    let master = peers.others().find(|(other, _)| *other == 0);
    let master = master.map(|(_, peer)| peer.handler("job").map(|handler| (peer, handler)));
    let master = master.transpose()?;
    let mut failure = None;
    let mut search = Search {
        cities,
        bound: &bound,
        improved: |length| failure = shortest.write(&length).err().or(failure.take()),
        expanded: 0,
    };
    node.clock.measure(|| {
        match master {
            None => {
                while let Some(route) = next(&jobs) {
                    search.run(&route);
                }
            }
            Some((peer, handler)) => loop {
                node.called(0);
                let reply = peer.request(handler, 0, &[])?.wait()?;
                match reply.payload.as_bytes() {
                    [] => break,
                    route => search.run(route),
                }
            },
        }
        Ok(())
    })?;
    let expanded = search.expanded;
    match failure {
        Some(failure) => Err(failure.into()),
        None => Ok((bound.load(Ordering::Relaxed), expanded)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_jobs_as_in_the_paper() {
        let cities = cities(Size::Full);
        let jobs = [false, true].map(|fine| AmTsp { fine }.routes(&cities, Size::Full).len());
        assert_eq!(jobs, [969, 6912]);
    }
}
