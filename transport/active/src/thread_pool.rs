//! Thread pool that serves a poll group. It grows while all threads run long handlers.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use super::poll_loop::PollLoop;
use jstream_sync::panics::forget_panic;

/// Wrapper that each thread calls around its work.
pub(super) type Around = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// State shared by the threads of a pool.
pub(super) struct ThreadPool {
    stopped: AtomicBool,
    around: Box<Around>,
    threads: Mutex<Threads>,
}

struct Threads {
    places: ThreadCounts,
    handles: Vec<JoinHandle<()>>,
}

/// Number of threads that are not ending, and its bounds.
#[derive(Debug)]
pub(super) struct ThreadCounts {
    count: usize,
    least: usize,
    most: usize,
}

impl ThreadCounts {
    pub(super) fn new(least: usize, most: usize) -> Self {
        Self {
            count: 0,
            least,
            most,
        }
    }

    /// Counts a new thread.
    pub(super) fn add(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Counts a thread that has ended by a panic.
    pub(super) fn lose(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Returns true if another thread may be started.
    pub(super) fn has_room(&self) -> bool {
        self.count < self.most
    }

    /// Returns true if the calling thread should end, as enough others are on standby and there are
    /// more threads than the minimum.
    pub(super) fn ends(&mut self, standing: usize) -> bool {
        let leaves = standing >= self.least && self.count > self.least;
        if leaves {
            self.count = self.count.saturating_sub(1);
        }
        leaves
    }
}

impl ThreadPool {
    /// Starts the minimum number of threads.
    pub(super) fn start(
        poll_loop: &Arc<PollLoop>,
        least: usize,
        most: usize,
        around: Box<Around>,
    ) -> io::Result<Arc<Self>> {
        let thread_pool = Arc::new(Self {
            stopped: AtomicBool::new(false),
            around,
            threads: Mutex::new(Threads {
                places: ThreadCounts::new(least, most),
                handles: Vec::new(),
            }),
        });
        for number in 0..least {
            // The first thread polls; the others start on standby. If none did, no thread would
            // detect that all are busy.
            if let Err(error) = thread_pool.add(poll_loop, &mut thread_pool.threads(), number > 0) {
                thread_pool.stop(poll_loop);
                return Err(error);
            }
        }
        Ok(thread_pool)
    }

    fn add(
        self: &Arc<Self>,
        poll_loop: &Arc<PollLoop>,
        threads: &mut Threads,
        is_more: bool,
    ) -> io::Result<()> {
        let (thread_pool, poll_loop) = (self.clone(), poll_loop.clone());
        let handle = jstream_sync::threads::spawn("jstream-serving", move || {
            let mut serve =
                || poll_loop.work(Some(&thread_pool), is_more, || thread_pool.has_stopped());
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (thread_pool.around)(&mut serve)))
            {
                // The thread did not leave its place by itself.
                thread_pool.threads().places.lose();
                forget_panic(panic);
            }
        })?;
        // Threads end by themselves when there are too many, so their handles would pile up.
        threads.handles.retain(|handle| !handle.is_finished());
        threads.handles.push(handle);
        threads.places.add();
        Ok(())
    }

    /// Starts another standby thread if no thread is left on standby and the limit allows it. A
    /// failure to start one is ignored.
    pub(super) fn grow(self: &Arc<Self>, poll_loop: &Arc<PollLoop>) {
        let mut threads = self.threads();
        if threads.places.has_room() && !self.has_stopped() {
            // Without another thread, the present ones serve.
            let _ = self.add(poll_loop, &mut threads, true);
        }
    }

    /// Returns true if the calling thread should end while `standing` others are on standby.
    pub(super) fn leaves(&self, standing: usize) -> bool {
        self.threads().places.ends(standing)
    }

    pub(super) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Ends all threads, each after its current handler.
    pub(super) fn stop(&self, poll_loop: &PollLoop) {
        let mut threads = self.threads();
        // Stored under the lock, so that no thread is added after the handles are taken.
        self.stopped.store(true, Ordering::Release);
        let handles = std::mem::take(&mut threads.handles);
        drop(threads);
        // A forked process has no threads of the pool.
        if poll_loop.is_elsewhere() {
            return;
        }
        poll_loop.call_all();
        // A handler of the pool may stop it, and must not join its own thread.
        let own = thread::current().id();
        for handle in handles {
            if handle.thread().id() != own {
                // A panic of the thread was caught and reported there.
                let _ = handle.join();
            }
        }
    }

    /// Locks the state and ignores poisoning: it is consistent between statements, so a panic can't
    /// leave it half changed.
    fn threads(&self) -> MutexGuard<'_, Threads> {
        jstream_sync::lock(&self.threads)
    }
}

/// Handle of serving threads. When it is dropped, they end after their current handlers.
#[must_use = "the threads end when this is dropped"]
pub struct Serving {
    poll_loop: Arc<PollLoop>,
    thread_pool: Arc<ThreadPool>,
}

impl Serving {
    pub(super) fn start(
        poll_loop: Arc<PollLoop>,
        least: usize,
        most: usize,
        around: Box<Around>,
    ) -> io::Result<Self> {
        let thread_pool = ThreadPool::start(&poll_loop, least, most, around)?;
        Ok(Self {
            poll_loop,
            thread_pool,
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.thread_pool.stop(&self.poll_loop);
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}
