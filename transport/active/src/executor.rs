//! Executors of handlers that wait or run outside the receive loop.
//!
//! Decision 075 has the reasons.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread;

/// Runs handlers that can't run in a receive loop.
///
/// A suspended handler comes here when it is woken. Exceptions are a wake-up by a thread that
/// receives for its side, and the first wake-up by the handler itself: then that thread continues
/// it. A handler that runs at a [worker](super::Builder::worker) comes here from the start. The
/// number of pending jobs is bounded by the windows of the connections.
pub trait Executor: Send + Sync {
    /// Schedules [`job.run()`](Job::run), to be called soon by any thread. Must not run it before
    /// returning, as handlers that never wait inside one another could then nest without a limit.
    fn execute(&self, job: Job);

    /// Returns true if a job would run soon even if all running jobs wait for others. Otherwise
    /// handlers that are nested too deep are returned as [busy](super::Reason::Busy).
    fn has_room(&self) -> bool {
        true
    }
}

/// The executor of the handlers of a table, set when the table is built.
pub(super) type Place = Arc<OnceLock<Arc<dyn Executor>>>;

/// A task, as its executor sees it.
pub(super) trait Run: Send + Sync {
    fn run(self: Arc<Self>);

    /// Queues the task at its executor.
    fn queue(self: Arc<Self>);

    /// Ends a task that has not begun; its request is returned as busy. Returns false if the task
    /// has begun.
    fn refuse(self: Arc<Self>) -> bool;
}

/// A handler that may continue.
#[must_use = "a handler goes on when its job is run"]
pub struct Job(Arc<dyn Run>);

impl Job {
    pub(super) fn new(task: Arc<dyn Run>) -> Self {
        Self(task)
    }

    /// Polls the handler once. A panic of the handler does not propagate; it is reported to the
    /// sender of the request.
    pub fn run(self) {
        self.0.run();
    }

    /// Returns the request as [busy](super::Reason::Busy) without its payload, for an executor that
    /// has no room. Fails if the handler has begun.
    ///
    /// # Errors
    ///
    /// Returns the job if its handler has begun.
    pub fn refuse(self) -> Result<(), Self> {
        if self.0.clone().refuse() {
            return Ok(());
        }
        Err(self)
    }

    /// Passes the job to its executor.
    pub(super) fn elsewhere(self) {
        self.0.queue();
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// A thread pool that runs jobs in the order in which they arrive. Threads are started on demand,
/// and end when the pool is dropped, after their current jobs; jobs that are still queued are
/// dropped.
///
/// A handler that waits for an answer without being `async` blocks its thread, and the answer may
/// need another thread. So threads that wait do not count towards the limit, up to 32 of them. If
/// these wait as well, requests whose handlers have not begun are returned as
/// [busy](super::Reason::Busy). This counters peers that call each other endlessly.
#[derive(Debug)]
pub struct ThreadPool {
    work: Arc<Work>,
}

#[derive(Debug)]
struct Work {
    /// Maximum number of threads that do not wait.
    most: usize,
    state: Mutex<ExecutorState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ExecutorState {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    /// Number of threads that wait for answers.
    waiting: usize,
    ended: bool,
}

/// Maximum number of waiting threads beyond the limit of the pool.
const SPARE: usize = 32;

thread_local! {
    /// The pool to which this thread belongs, while it does not wait.
    static POOL: RefCell<Option<Arc<Work>>> = const { RefCell::new(None) };
}

impl ThreadPool {
    /// Creates a pool of at most `most` threads, but at least one.
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
    /// Creates a pool with one thread per processor, but at least two.
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
        // Jobs hold values of the program, so they are dropped without the lock.
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        self.work.changed.notify_all();
        drop(jobs);
    }
}

impl Work {
    /// Wakes or starts a thread for the queued jobs, or refuses them.
    fn see_to(self: &Arc<Self>, mut state: MutexGuard<'_, ExecutorState>) {
        let is_free = state.threads.saturating_sub(state.waiting) < self.most;
        let limit = self.most.saturating_add(SPARE);
        // Enough threads are idle, or as many run as may.
        if state.idle >= state.jobs.len() || !is_free {
            drop(state);
        } else if state.threads < limit {
            state.threads = state.threads.saturating_add(1);
            drop(state);
            let work = self.clone();
            // If no thread can be started, the existing ones run the job.
            if jstream_sync::threads::spawn("jstream-handlers", move || work.run()).is_err() {
                let mut state = self.lock();
                state.threads = state.threads.saturating_sub(1);
            }
        } else if state.waiting == state.threads {
            return self.refuse(state);
        }
        self.changed.notify_one();
    }

    /// Refuses the jobs that have not begun: all threads wait, maybe for these jobs.
    fn refuse(&self, mut state: MutexGuard<'_, ExecutorState>) {
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        let begun: Vec<_> = jobs
            .into_iter()
            .filter_map(|job| job.refuse().err())
            .collect();
        if !begun.is_empty() {
            // They keep their place before jobs that came meanwhile.
            let mut state = self.lock();
            begun
                .into_iter()
                .rev()
                .for_each(|job| state.jobs.push_front(job));
            drop(state);
            // A thread that stopped waiting may have found the queue empty meanwhile.
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
            // More threads were started while this one waited.
            if state.threads.saturating_sub(state.waiting) > self.most {
                break;
            }
            state.idle = state.idle.saturating_add(1);
            state = jstream_sync::unpoisoned(self.changed.wait(state));
            state.idle = state.idle.saturating_sub(1);
        }
        state.threads = state.threads.saturating_sub(1);
    }

    /// Locks the state and ignores poisoning: it is consistent between statements, so a panic can't
    /// leave it half changed.
    fn lock(&self) -> MutexGuard<'_, ExecutorState> {
        jstream_sync::lock(&self.state)
    }
}

/// Guard of a pool thread that waits for an answer.
pub(super) struct Absent(Arc<Work>);

impl Absent {
    /// Returns true if this is a thread of a pool that does not wait already.
    pub(super) fn is_needed() -> bool {
        POOL.try_with(|pool| pool.borrow().is_some())
            .unwrap_or(false)
    }

    /// Marks this thread as waiting, if it belongs to a pool and does not wait already.
    pub(super) fn of_thread() -> Option<Self> {
        // Taken out, so that a wait inside of this one does not count the thread twice.
        let work = POOL.try_with(|pool| pool.take()).ok()??;
        let mut state = work.lock();
        state.waiting = state.waiting.saturating_add(1);
        // A waiting thread does not run jobs, so another one may have to be started for them.
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
