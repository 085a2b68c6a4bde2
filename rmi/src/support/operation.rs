//! Operations for which a thread waits or which a task awaits.
//!
//! Decision 084 has the reasons.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::support::sync::lock;
use crate::support::wait::may_block;
use jstream_sync::callbacks;
use jstream_sync::parker::block_on;

/// An operation over the network. Wait for its result with [`wait`](Self::wait), which blocks the
/// thread, or await it as a future, which blocks no thread and needs no runtime.
///
/// The function that returns the operation states when it begins. An operation that is dropped has
/// no result.
#[must_use = "the result is known only after waiting for it"]
pub struct Operation<T> {
    steps: Box<dyn Steps<T>>,
}

/// The steps of an operation.
pub(crate) trait Steps<T>: Send {
    /// Blocks until the next step.
    fn wait(self: Box<Self>) -> StepEnd<T>;

    /// Polls for the next step.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<StepEnd<T>>;
}

/// A completed step: the result, or the rest of the operation.
pub(crate) enum StepEnd<T> {
    Done(T),
    Next(Operation<T>),
}

impl<T> Operation<T> {
    pub(crate) fn new(steps: impl Steps<T> + 'static) -> Self {
        Self {
            steps: Box::new(steps),
        }
    }

    /// Creates an operation that blocks: the waiting thread runs `work`, or a new thread with this
    /// name if the operation is awaited.
    pub(crate) fn blocking(name: &'static str, work: impl FnOnce() -> T + Send + 'static) -> Self
    where
        T: Send + 'static,
    {
        let work = Arc::new(Mutex::new(BlockingWork {
            work: Some(Box::new(work)),
            progress: WorkProgress::Idle,
        }));
        Self::new(BlockingSteps { name, work })
    }

    /// Blocks until the operation has ended, and returns its result.
    ///
    /// # Panics
    ///
    /// If the operation was polled before and has returned its result. With the feature `tokio`, in
    /// debug builds, also if the thread runs tasks of tokio.
    #[track_caller]
    pub fn wait(mut self) -> T {
        may_block("Operation::wait");
        loop {
            match self.steps.wait() {
                StepEnd::Done(result) => return result,
                StepEnd::Next(rest) => self = rest,
            }
        }
    }
}

impl<T> Future for Operation<T> {
    type Output = T;

    /// # Panics
    ///
    /// If the operation has returned its result before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        loop {
            match self.steps.poll(context) {
                Poll::Ready(StepEnd::Done(result)) => return Poll::Ready(result),
                Poll::Ready(StepEnd::Next(rest)) => *self = rest,
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl<T> fmt::Debug for Operation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").finish_non_exhaustive()
    }
}

/// The only step of an operation that blocks.
struct BlockingSteps<T> {
    name: &'static str,
    work: Arc<Mutex<BlockingWork<T>>>,
}

/// Work that blocks. `work` is present until it runs.
struct BlockingWork<T> {
    work: Option<Box<dyn FnOnce() -> T + Send>>,
    progress: WorkProgress<T>,
}

/// Progress of work that may run on its own thread.
enum WorkProgress<T> {
    Idle,
    Running(Waker),
    Ended(Result<T, Box<dyn Any + Send>>),
    Taken,
}

impl<T> BlockingSteps<T> {
    /// Returns the work, unless it runs or has run.
    fn take(&self) -> Option<Box<dyn FnOnce() -> T + Send>> {
        let mut work = lock(&self.work);
        let taken = work.work.take();
        if taken.is_some() {
            // A later poll must not start a thread for work that this thread runs.
            work.progress = WorkProgress::Taken;
        }
        taken
    }
}

impl<T: Send + 'static> Steps<T> for BlockingSteps<T> {
    fn wait(mut self: Box<Self>) -> StepEnd<T> {
        if let Some(run) = self.take() {
            return StepEnd::Done(run());
        }
        // The operation was polled before, so it has a thread.
        block_on(std::future::poll_fn(|context| self.poll(context)))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<StepEnd<T>> {
        let mut work = lock(&self.work);
        match std::mem::replace(&mut work.progress, WorkProgress::Taken) {
            WorkProgress::Idle => {
                work.progress = WorkProgress::Running(context.waker().clone());
            }
            WorkProgress::Running(before) => {
                work.progress = WorkProgress::Running(context.waker().clone());
                // Deferred until the lock is released: a waker is code of the program.
                callbacks::discard([before]);
                return Poll::Pending;
            }
            WorkProgress::Ended(Ok(result)) => return Poll::Ready(StepEnd::Done(result)),
            WorkProgress::Ended(Err(panic)) => {
                // The panic goes on in the thread that waits, and must not pass the guard of the
                // lock.
                drop(work);
                resume_unwind(panic)
            }
            WorkProgress::Taken => panic!("the operation has already returned its result"),
        }
        drop(work);
        let shared = self.work.clone();
        match jstream_sync::threads::spawn(self.name, move || run_apart(&shared)) {
            Ok(_) => Poll::Pending,
            // The system provides no thread, so this one has to block.
            Err(_) => match self.take() {
                Some(run) => Poll::Ready(StepEnd::Done(run())),
                None => unreachable!("only the thread that was not started takes the work"),
            },
        }
    }
}

/// Runs work on its own thread, and wakes the task that awaits it.
fn run_apart<T>(shared: &Mutex<BlockingWork<T>>) {
    // Taken under the lock and run without it: polls look at the state meanwhile.
    let run = lock(shared).work.take();
    let Some(run) = run else { return };
    let result = catch_unwind(AssertUnwindSafe(run));
    let ended = WorkProgress::Ended(result);
    let before = std::mem::replace(&mut lock(shared).progress, ended);
    if let WorkProgress::Running(waker) = before {
        callbacks::wake(waker);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_waiting_thread_runs_the_work_itself() {
        let local = thread::current().id();
        let operation = Operation::blocking("apart", || thread::current().id());
        assert_eq!(operation.wait(), local);
    }

    #[test]
    fn awaited_work_runs_on_its_own_thread() {
        let name = || thread::current().name().map(str::to_owned);
        let operation = Operation::blocking("apart", name);
        assert_eq!(block_on(operation).as_deref(), Some("apart"));
    }

    #[test]
    fn polled_work_can_be_waited_for() {
        let (go, gone) = std::sync::mpsc::channel::<u8>();
        let mut operation = Operation::blocking("apart", move || gone.recv());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            assert!(Pin::new(&mut operation).poll(&mut context).is_pending());
        }
        go.send(7).unwrap();
        assert_eq!(operation.wait(), Ok(7));
    }

    #[test]
    fn a_panic_of_the_work_reaches_the_task() {
        let operation = Operation::blocking("apart", || {
            if true {
                panic!("as it should");
            }
        });
        let panic = catch_unwind(AssertUnwindSafe(|| block_on(operation))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as it should"));
    }
}
