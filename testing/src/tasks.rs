//! A minimal executor.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use crate::LONG;

/// A task that belongs to the thread that created it. It counts its wake-ups.
#[derive(Debug)]
pub struct Task {
    thread: Thread,
    woken: AtomicUsize,
}

impl Task {
    /// Creates a task of the calling thread.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            thread: thread::current(),
            woken: AtomicUsize::new(0),
        })
    }

    /// Returns a waker of the task.
    pub fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    /// Returns the number of wake-ups so far.
    pub fn woken(&self) -> usize {
        self.woken.load(Ordering::Relaxed)
    }

    /// Blocks until the task has been woken more often than `before`.
    pub fn wait(&self, before: usize) {
        let start = Instant::now();
        while self.woken() == before {
            assert!(start.elapsed() < LONG, "the task was not woken");
            thread::park_timeout(LONG);
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, Ordering::Relaxed);
        self.thread.unpark();
    }
}

/// Polls a future once, for the given task.
pub fn poll_once<F: Future>(future: Pin<&mut F>, task: &Arc<Task>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&task.waker()))
}

/// Runs a future to completion. Polls only after a wake-up, so a missing wake-up hangs the test.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let (task, mut future) = (Task::new(), pin!(future));
    loop {
        let before = task.woken();
        match poll_once(future.as_mut(), &task) {
            Poll::Ready(output) => return output,
            Poll::Pending => task.wait(before),
        }
    }
}
