//! Where handlers go that wait, or are to run elsewhere.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use super::task::Run;

/// Runs what can't run in a receive loop.
///
/// A handler that has to wait comes here when what it waits for has happened, and one that is to run at a
/// [worker](super::Builder::worker) at once. How many jobs there are at a time the windows of the connections
/// bound.
pub trait Executor: Send + Sync {
    /// Has [`job.run()`](Job::run) called soon, by any thread. Where that is done before this returns, handlers
    /// that never wait inside one another may nest without an end: it is not.
    fn execute(&self, job: Job);

    /// Whether a job would be run soon, also when those that run wait for others. Handlers that are nested too deep are
    /// given back as [busy](super::Reason::Busy) where it would not.
    fn has_room(&self) -> bool {
        true
    }
}

/// A handler that may go on.
#[must_use = "a handler goes on when its job is run"]
pub struct Job(Arc<dyn Run>);

impl Job {
    pub(super) fn new(task: Arc<dyn Run>) -> Self {
        Self(task)
    }

    /// Polls the handler once. Panics in it end here, and are told to whoever made the request.
    pub fn run(self) {
        self.0.run();
    }

    /// Has it run by the executor of its own.
    pub(super) fn elsewhere(self) {
        self.0.queue();
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// A few threads that run jobs in the order in which they come. They are started as they are needed, and end
/// when the pool is dropped, behind what they are at; jobs that wait then are dropped.
#[derive(Debug)]
pub struct ThreadPool {
    work: Arc<Work>,
    most: usize,
}

#[derive(Debug)]
struct Work {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    ended: bool,
}

impl ThreadPool {
    /// A pool of `most` threads at most, and of one at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            work: Arc::new(Work {
                state: Mutex::default(),
                changed: Condvar::new(),
            }),
            most: most.max(1),
        }
    }
}

impl Default for ThreadPool {
    /// One thread for each processor, and two at least.
    fn default() -> Self {
        Self::new(thread::available_parallelism().map_or(2, |count| count.get().max(2)))
    }
}

impl Executor for ThreadPool {
    fn execute(&self, job: Job) {
        let mut state = self.work.lock();
        state.jobs.push_back(job);
        let wants_thread = state.idle < state.jobs.len() && state.threads < self.most;
        if wants_thread {
            state.threads = state.threads.saturating_add(1);
        }
        drop(state);
        if wants_thread {
            let work = self.work.clone();
            let name = "jstream-handlers".to_owned();
            // Without room for a thread those that are there have more to do.
            if Builder::new().name(name).spawn(move || work.run()).is_err() {
                let mut state = self.work.lock();
                state.threads = state.threads.saturating_sub(1);
            }
        }
        self.work.changed.notify_one();
    }

    fn has_room(&self) -> bool {
        let state = self.work.lock();
        state.idle > state.jobs.len() || state.threads < self.most
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        let mut state = self.work.lock();
        state.ended = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        self.work.changed.notify_all();
        drop(jobs);
    }
}

impl Work {
    fn run(&self) {
        let mut state = self.lock();
        while !state.ended {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job.run();
                state = self.lock();
                continue;
            }
            state.idle = state.idle.saturating_add(1);
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle = state.idle.saturating_sub(1);
        }
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
