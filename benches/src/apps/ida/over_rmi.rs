//! Each node has a queue of jobs. A node whose queue is empty steals from the others by remote
//! calls.
//!
//! An iteration has ended when no node has a job. Node 0 detects this with the counts of created
//! and finished jobs that each answer to a steal carries. It asks all nodes twice. If the number of
//! created jobs at the second time is that of finished jobs at the first time, then no job was left
//! in between, because no count ever falls and no more jobs are finished than created.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream_rmi::remote;
use serde::{Deserialize, Serialize};

use super::puzzle::{Position, Tally};
use super::{JOB_MOVES, iterate};
use crate::Failure;
use crate::apps::app::Answer;
use crate::apps::lock;
use crate::apps::node::Node;
use crate::apps::objects::Objects;

const NAME: &str = "queue";

/// Largest number of jobs that are stolen at once.
const MOST: usize = 64;

/// Pauses of a node that found no jobs: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// A position with the limit of its iteration.
#[derive(Debug, Clone, Copy, Transportable, Serialize, Deserialize)]
#[repr(C)]
struct Job {
    board: u64,
    limit: u8,
    blank: u8,
    last: u8,
    moves: u8,
    estimate: u32,
}

impl Job {
    fn new(position: Position, limit: u8) -> Self {
        Self {
            board: position.board,
            limit,
            blank: position.blank,
            last: position.last,
            moves: position.moves,
            estimate: position.estimate.into(),
        }
    }

    fn position(self) -> Position {
        Position {
            board: self.board,
            blank: self.blank,
            last: self.last,
            moves: self.moves,
            estimate: self.estimate as u8,
        }
    }
}

/// Answer to a node that wants to steal.
#[derive(Debug, Transportable, Serialize, Deserialize)]
#[repr(C)]
struct Loot {
    jobs: Vec<Job>,
    /// Number of jobs that this node has created and finished since the beginning.
    created: u64,
    finished: u64,
    /// True after the last iteration.
    is_over: bool,
}

/// The queue of a node.
#[remote]
trait Queue {
    /// Takes half of the jobs, the largest ones, and returns the counts of the node.
    fn steal(&self) -> Loot;

    /// Like `steal`, in postcard's format.
    fn steal_copied(&self) -> Vec<u8>;

    /// Takes the results since the last call: examined positions, solutions, and the next limit.
    fn results(&self) -> (u64, u64, u32);
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    created: u64,
    finished: u64,
    tally: Tally,
}

#[derive(Default)]
struct Own {
    state: Mutex<State>,
    is_over: AtomicBool,
}

impl Own {
    fn push(&self, job: Job) {
        let mut state = lock(&self.state);
        state.created += 1;
        state.jobs.push_back(job);
    }

    /// Adds stolen jobs, which were counted where they were created.
    fn add(&self, jobs: impl IntoIterator<Item = Job>) -> bool {
        let mut state = lock(&self.state);
        state.jobs.extend(jobs);
        !state.jobs.is_empty()
    }

    /// Runs one job. Returns false if there is none.
    fn run_one(&self) -> bool {
        // The latest job is the smallest one.
        let Some(job) = lock(&self.state).jobs.pop_back() else {
            return false;
        };
        let (position, limit) = (job.position(), job.limit);
        let mut tally = Tally::default();
        if position.moves < JOB_MOVES {
            tally.expand(position, limit, |_, successor| {
                self.push(Job::new(successor, limit))
            });
        } else {
            tally.search(position, limit);
        }
        let mut state = lock(&self.state);
        state.tally.add(tally);
        // Its successors were counted before.
        state.finished += 1;
        true
    }

    fn loot(&self) -> Loot {
        let mut state = lock(&self.state);
        let count = state.jobs.len().div_ceil(2).min(MOST);
        Loot {
            jobs: state.jobs.drain(..count).collect(),
            created: state.created,
            finished: state.finished,
            is_over: self.is_over.load(Ordering::Relaxed),
        }
    }

    fn take_results(&self) -> Tally {
        std::mem::take(&mut lock(&self.state).tally)
    }
}

#[remote]
impl Queue for Own {
    fn steal(&self) -> Loot {
        self.loot()
    }

    fn steal_copied(&self) -> Vec<u8> {
        // Writing to memory does not fail; the thief reports bytes that it can't decode.
        postcard::to_allocvec(&self.loot()).unwrap_or_default()
    }

    fn results(&self) -> (u64, u64, u32) {
        let tally = self.take_results();
        (tally.expanded, tally.solutions, tally.next_limit.into())
    }
}

/// The part of a node.
struct Worker<'a> {
    node: &'a Node<'a>,
    own: Arc<Own>,
    /// Queues of the other nodes.
    others: Vec<QueueStub>,
    copying: bool,
}

/// Jobs created and finished at all nodes, and whether the search is over.
struct Wave {
    created: u64,
    finished: u64,
    found: bool,
    is_over: bool,
}

impl Worker<'_> {
    /// Tries to steal from all other nodes.
    fn wave(&self) -> Result<Wave, Failure> {
        let mut wave = Wave {
            created: 0,
            finished: 0,
            found: false,
            is_over: false,
        };
        for other in &self.others {
            let counts = if self.copying {
                let loot = other.steal_copied().wait()?;
                let loot: Loot = postcard::from_bytes(loot.get())?;
                self.node.called(size_of_val(&loot.jobs[..]));
                wave.found |= self.own.add(loot.jobs);
                (loot.created, loot.finished, loot.is_over)
            } else {
                let loot = other.steal().wait()?;
                let loot = loot.get();
                self.node.called(size_of_val(loot.jobs));
                wave.found |= self.own.add(loot.jobs.iter().copied());
                (loot.created, loot.finished, loot.is_over)
            };
            wave.created += counts.0;
            wave.finished += counts.1;
            wave.is_over |= counts.2;
            if wave.found {
                return Ok(wave);
            }
        }
        let state = lock(&self.own.state);
        wave.created += state.created;
        wave.finished += state.finished;
        Ok(wave)
    }

    /// Runs own and stolen jobs until `ends` returns true after a wave that found none.
    fn work(&self, mut ends: impl FnMut(&Wave) -> bool) -> Result<(), Failure> {
        let [shortest, longest] = PAUSES;
        let mut pause = shortest;
        loop {
            while self.own.run_one() {
                pause = shortest;
            }
            let wave = self.wave()?;
            if wave.found {
                continue;
            }
            if ends(&wave) {
                return Ok(());
            }
            thread::sleep(pause);
            pause = longest.min(pause * 2);
        }
    }

    /// Runs an iteration from node 0.
    fn iteration(&self, first: Position, limit: u8) -> Result<Tally, Failure> {
        self.own.push(Job::new(first, limit));
        let mut finished_before = None;
        self.work(|wave| finished_before.replace(wave.finished) == Some(wave.created))?;
        let mut tally = self.own.take_results();
        for other in &self.others {
            let results = other.results().wait()?;
            let (expanded, solutions, next_limit) = *results.get();
            tally.add(Tally {
                expanded,
                solutions,
                next_limit: next_limit as u8,
            });
        }
        Ok(tally)
    }
}

/// Runs the part of this node.
pub(super) fn run(node: &Node<'_>, first: Position, copying: bool) -> Result<Answer, Failure> {
    let own = Arc::new(Own::default());
    let objects = Objects::start(node, |server| {
        server.bind::<dyn Queue>(NAME, own.clone())?;
        Ok(())
    })?;
    let others = (0..node.count()).filter(|other| *other != node.index());
    let others = others.map(|other| Ok(objects.client(other)?.lookup::<dyn Queue>(NAME).wait()?));
    let worker = Worker {
        node,
        own,
        others: others.collect::<Result<_, Failure>>()?,
        copying,
    };
    node.clock.measure(|| {
        if node.index() > 0 {
            worker.work(|wave| wave.is_over)?;
            return Ok(Answer::new());
        }
        let result = iterate(first, |limit| worker.iteration(first, limit));
        worker.own.is_over.store(true, Ordering::Relaxed);
        let (answer, all) = result?;
        node.clock.worked(all);
        Ok(answer)
    })
}
