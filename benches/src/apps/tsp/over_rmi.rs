//! The nodes take jobs from a queue at node 0, and tell each other shorter tours, by remote calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use jstream_rmi::remote;

use super::Problem;
use super::cities::Search;
use crate::Failure;
use crate::apps::node::Node;
use crate::apps::objects::Objects;

const JOBS: &str = "jobs";
const BOUND: &str = "bound";

/// The central queue of jobs.
#[remote]
trait Jobs {
    /// Takes a job: a route to extend, or an empty one if there are no more.
    fn take(&self) -> Vec<u8>;

    /// Like `take`, with a route in postcard's format.
    fn take_copied(&self) -> Vec<u8>;
}

/// The length of the shortest tour that a node knows.
#[remote]
trait Bound {
    fn lower(&self, length: u32);

    /// Like `lower`, with a length in postcard's format.
    fn lower_copied(&self, length: &[u8]);
}

struct Queue {
    routes: Vec<Vec<u8>>,
    taken: AtomicUsize,
}

impl Queue {
    fn next(&self) -> Vec<u8> {
        let index = self.taken.fetch_add(1, Ordering::Relaxed);
        self.routes.get(index).cloned().unwrap_or_default()
    }
}

#[remote]
impl Jobs for Queue {
    fn take(&self) -> Vec<u8> {
        self.next()
    }

    fn take_copied(&self) -> Vec<u8> {
        // Writing to memory does not fail; an empty route would end the node that takes it.
        postcard::to_allocvec(&self.next()).unwrap_or_default()
    }
}

struct Shortest(AtomicU32);

#[remote]
impl Bound for Shortest {
    fn lower(&self, length: u32) {
        self.0.fetch_min(length, Ordering::Relaxed);
    }

    fn lower_copied(&self, length: &[u8]) {
        // A length that can't be decoded lowers nothing.
        let length = postcard::from_bytes(length).unwrap_or(u32::MAX);
        self.0.fetch_min(length, Ordering::Relaxed);
    }
}

/// The queue as a node sees it.
enum Source {
    Own(Arc<Queue>),
    Other(JobsStub),
}

impl Source {
    /// Takes all jobs. The next job of another node is on its way while one runs.
    fn each(
        &self,
        node: &Node<'_>,
        copying: bool,
        mut run: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        match self {
            Self::Own(queue) => loop {
                match queue.next() {
                    route if route.is_empty() => return Ok(()),
                    route => run(&route),
                }
            },
            Self::Other(jobs) if copying => {
                let mut next = jobs.take_copied();
                loop {
                    let route: Vec<u8> = postcard::from_bytes(next.wait()?.get())?;
                    node.called(route.len());
                    if route.is_empty() {
                        return Ok(());
                    }
                    next = jobs.take_copied();
                    run(&route);
                }
            }
            Self::Other(jobs) => {
                let mut next = jobs.take();
                loop {
                    let route = next.wait()?;
                    node.called(route.get().len());
                    if route.get().is_empty() {
                        return Ok(());
                    }
                    next = jobs.take();
                    run(route.get());
                }
            }
        }
    }
}

/// Runs the part of this node. Returns the length of the shortest tour and the number of routes
/// that this node extended.
pub(super) fn run(
    node: &Node<'_>,
    problem: &Problem,
    copying: bool,
) -> Result<(u32, u64), Failure> {
    let bound = Arc::new(Shortest(AtomicU32::new(problem.bound)));
    let own_jobs = (node.index() == 0).then(|| {
        Arc::new(Queue {
            routes: problem.routes(),
            taken: AtomicUsize::new(0),
        })
    });
    let objects = Objects::start(node, |server| {
        server.bind::<dyn Bound>(BOUND, bound.clone())?;
        if let Some(queue) = &own_jobs {
            server.bind::<dyn Jobs>(JOBS, queue.clone())?;
        }
        Ok(())
    })?;
    let others = (0..node.count()).filter(|other| *other != node.index());
    let others =
        others.map(|other| Ok(objects.client(other)?.lookup::<dyn Bound>(BOUND).wait()?));
    let others = others.collect::<Result<Vec<_>, Failure>>()?;
    let jobs = match own_jobs {
        Some(queue) => Source::Own(queue),
        None => Source::Other(objects.client(0)?.lookup::<dyn Jobs>(JOBS).wait()?),
    };

    let mut failure = None;
    let mut search = Search {
        cities: &problem.cities,
        bound: &bound.0,
        improved: |length| {
            let told = others.iter().try_for_each(|other| {
                node.called(size_of::<u32>());
                if copying {
                    other
                        .lower_copied(&postcard::to_allocvec(&length)?)
                        .wait()?;
                } else {
                    other.lower(length).wait()?;
                }
                Ok::<_, Failure>(())
            });
            failure = told.err().or(failure.take());
        },
        expanded: 0,
    };
    node.clock
        .measure(|| jobs.each(node, copying, |route| search.run(route)))?;
    let expanded = search.expanded;
    match failure {
        Some(failure) => Err(failure),
        None => Ok((bound.0.load(Ordering::Relaxed), expanded)),
    }
}
