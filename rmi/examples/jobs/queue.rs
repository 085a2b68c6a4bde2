//! A queue of jobs. Each job is given to one worker until that worker ends.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jstream_rmi::{Export, Remote, Server, WeakServer, remote};

/// A job that was given to a worker. If the reference is lost before the job is done, the job is
/// given to another worker.
#[remote]
pub(crate) trait Job {
    fn number(&self) -> u64;
    fn done(&self, result: u64);
}

#[remote]
pub(crate) trait Queue {
    /// Returns the next job, if there is one.
    fn take(&self, worker: &str) -> Option<Remote<dyn Job>>;

    /// Returns true if all jobs are done.
    fn is_done(&self) -> bool;
}

pub(crate) struct Jobs {
    server: WeakServer,
    state: Mutex<State>,
    this: Weak<Self>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<u64>,
    /// Jobs that workers have.
    given: BTreeMap<u64, Export<dyn Job>>,
    results: BTreeMap<u64, u64>,
    count: usize,
}

impl Jobs {
    pub(crate) fn new(server: &Server, jobs: impl Iterator<Item = u64>) -> Arc<Self> {
        let waiting: VecDeque<u64> = jobs.collect();
        Arc::new_cyclic(|this| Self {
            server: server.downgrade(),
            state: Mutex::new(State {
                count: waiting.len(),
                waiting,
                ..State::default()
            }),
            this: this.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called when a worker has no reference to its job any more.
    fn lost(&self, number: u64, worker: &str) {
        let mut state = self.lock();
        let lost = state.given.remove(&number);
        if lost.is_some() {
            println!("queue: {worker} is gone, job {number} is returned");
            state.waiting.push_front(number);
        }
        drop(state);
        // Drops the export without holding the lock.
        drop(lost);
    }

    pub(crate) fn results(&self) -> Vec<(u64, u64)> {
        let state = self.lock();
        state
            .results
            .iter()
            .map(|(job, result)| (*job, *result))
            .collect()
    }
}

impl Queue for Jobs {
    fn take(&self, worker: &str) -> Option<Remote<dyn Job>> {
        let server = self.server.upgrade()?;
        let number = self.lock().waiting.pop_front()?;
        let given = Arc::new(Given {
            number,
            jobs: self.this.clone(),
        });
        let export = server.export::<dyn Job>(given);
        let (jobs, name) = (self.this.clone(), worker.to_owned());
        export.when_unreferenced(move || {
            if let Some(jobs) = jobs.upgrade() {
                jobs.lost(number, &name);
            }
        });
        let remote = export.remote();
        self.lock().given.insert(number, export);
        println!("queue: {worker} has job {number}");
        Some(remote)
    }

    fn is_done(&self) -> bool {
        let state = self.lock();
        state.results.len() == state.count
    }
}

struct Given {
    number: u64,
    jobs: Weak<Jobs>,
}

impl Job for Given {
    fn number(&self) -> u64 {
        self.number
    }

    fn done(&self, result: u64) {
        let Some(jobs) = self.jobs.upgrade() else {
            return;
        };
        let mut state = jobs.lock();
        let done = state.given.remove(&self.number);
        if done.is_some() {
            state.results.insert(self.number, result);
        }
        drop(state);
        drop(done);
    }
}
