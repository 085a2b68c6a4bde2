//! Where handlers go that wait, or are to run elsewhere.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder};

use super::task::Run;

/// Runs what can't run in a receive loop.
///
/// A handler that has to wait comes here when what it waits for has happened, unless a thread that receives for its side
/// has brought that about, or the handler itself, for the first time: then that goes on with it. One that is to run at a
/// [worker](super::Builder::worker) comes here at once. How many jobs there are at a time the windows of the connections
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

    /// Gives the request back as [busy](super::Reason::Busy) instead, without its payload: where there is no room for
    /// it. A handler that has begun already is not given up, and its job comes back.
    ///
    /// # Errors
    ///
    /// The job of a handler that has begun.
    pub fn refuse(self) -> Result<(), Self> {
        if self.0.clone().refuse() {
            return Ok(());
        }
        Err(self)
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
///
/// A handler that waits for an answer without being `async` keeps its thread, and what it waits for may need another
/// one. So threads that wait don't count, up to 32 of them; where these wait as well, requests whose handlers have not
/// begun go back as [busy](super::Reason::Busy). Answers the threat of peers that ask each other without an end.
#[derive(Debug)]
pub struct ThreadPool {
    work: Arc<Work>,
}

#[derive(Debug)]
struct Work {
    /// How many threads there are at most that don't wait.
    most: usize,
    state: Mutex<ExecutorState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ExecutorState {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// How many threads wait for answers.
    waiting: usize,
    ended: bool,
}

/// How many threads there are at most besides those that don't wait.
const SPARE: usize = 32;

thread_local! {
    /// The pool that this thread is one of, while it does not wait.
    static POOL: RefCell<Option<Arc<Work>>> = const { RefCell::new(None) };
}

impl ThreadPool {
    /// A pool of `most` threads at most, and of one at least.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            work: Arc::new(Work {
                most: most.max(1),
                state: Mutex::default(),
                changed: Condvar::new(),
            }),
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
        self.work.see_to(state);
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
    /// Has somebody run what there is.
    fn see_to(self: &Arc<Self>, mut state: MutexGuard<'_, ExecutorState>) {
        let is_free = state.threads.saturating_sub(state.waiting) < self.most;
        let limit = self.most.saturating_add(SPARE);
        if state.idle >= state.jobs.len() || !is_free {
            drop(state);
        } else if state.threads < limit {
            state.threads = state.threads.saturating_add(1);
            drop(state);
            let work = self.clone();
            let name = "jstream-handlers".to_owned();
            // Without room for a thread those that are there have more to do.
            if Builder::new().name(name).spawn(move || work.run()).is_err() {
                let mut state = self.lock();
                state.threads = state.threads.saturating_sub(1);
            }
        } else if state.waiting == state.threads {
            return self.refuse(state);
        }
        self.changed.notify_one();
    }

    /// All wait, maybe for what there is to be run.
    #[cold]
    fn refuse(&self, mut state: MutexGuard<'_, ExecutorState>) {
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        let begun: Vec<_> = jobs
            .into_iter()
            .filter_map(|job| job.refuse().err())
            .collect();
        if !begun.is_empty() {
            // They keep their place before those that came meanwhile.
            let mut state = self.lock();
            begun
                .into_iter()
                .rev()
                .for_each(|job| state.jobs.push_front(job));
            drop(state);
            // One that waits no more may have found nothing meanwhile.
            self.changed.notify_all();
        }
    }

    fn run(self: Arc<Self>) {
        POOL.set(Some(self.clone()));
        let mut state = self.lock();
        while !state.ended {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job.run();
                state = self.lock();
                continue;
            }
            // Others were started while this one waited.
            if state.threads.saturating_sub(state.waiting) > self.most {
                break;
            }
            state.idle = state.idle.saturating_add(1);
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle = state.idle.saturating_sub(1);
        }
        state.threads = state.threads.saturating_sub(1);
    }

    /// A panic elsewhere can't leave the state half changed: it holds between statements.
    fn lock(&self) -> MutexGuard<'_, ExecutorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread of a pool that waits for an answer, until this is dropped.
pub(super) struct Absent(Arc<Work>);

impl Absent {
    /// Whether this thread is one, and does not wait already.
    #[inline]
    pub(super) fn is_needed() -> bool {
        POOL.try_with(|pool| pool.borrow().is_some())
            .unwrap_or(false)
    }

    /// Of this thread, if it is one, and does not wait already.
    pub(super) fn of_thread() -> Option<Self> {
        let work = POOL.try_with(|pool| pool.take()).ok()??;
        let mut state = work.lock();
        state.waiting = state.waiting.saturating_add(1);
        if state.jobs.is_empty() {
            drop(state);
        } else {
            work.see_to(state);
        }
        Some(Self(work))
    }
}

impl Drop for Absent {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.waiting = state.waiting.saturating_sub(1);
        drop(state);
        POOL.set(Some(self.0.clone()));
    }
}
