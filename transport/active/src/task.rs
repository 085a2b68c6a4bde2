//! Storage and polling of the futures of handlers.
//!
//! A future is placed in a slot, a heap allocation that is reused for futures of the same type. So
//! it can be polled in the receive loop and then move to an executor without being moved in memory,
//! and in steady state nothing is allocated. The slot is a `Pin<Box<_>>`, so the compiler
//! guarantees that the future does not move.
//!
//! Decision 061 has the reasons.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};

use super::drop_reason::{Why, because};
use super::executor::{Executor, Job, Place, Run};
use super::ledger::Cancel;
use super::request::Mark;
use super::state::{Paused, State};
use super::turn::{self, Side};
use jstream_sync::panics::{catch_panic, forget_panic};
use jstream_sync::{Mutex, lock};

/// Maximum number of free slots kept per handler.
const KEPT: usize = 256;

/// The slots of one handler, on cache lines of their own.
#[repr(align(128))]
pub(super) struct Slots<F> {
    free: Mutex<Vec<Arc<Task<F>>>>,
    place: Place,
}

/// A set of futures of one type that begin in the receive loop, like those of `async` handlers:
/// each is polled once there, and continues at an executor if it is not ready. Their memory is
/// reused.
///
/// For handlers that select the future to run by the contents of the request.
pub struct Tasks<F> {
    slots: Arc<Slots<F>>,
}

/// Result of the first poll of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Began {
    /// The task has ended.
    Ended,
    /// The task panicked, and has ended.
    Panicked,
    /// The task continues elsewhere.
    Moved,
}

impl<F: Future<Output = ()> + Send + 'static> Tasks<F> {
    /// Creates an empty set whose suspended tasks continue at `executor`.
    #[must_use]
    pub fn new(executor: Arc<dyn Executor>) -> Self {
        Self {
            slots: Slots::new(Arc::new(OnceLock::from(executor))),
        }
    }

    /// Polls a future once in this thread, for the request of that mark. If it is suspended, it is
    /// cancelled together with the request.
    pub fn run(&self, mark: &Mark, future: F) -> Began {
        match self.slots.run(future, |task| mark.register_task(task)) {
            First::Ready => Began::Ended,
            First::Panicked => Began::Panicked,
            First::Moved => Began::Moved,
        }
    }
}

impl<F> fmt::Debug for Tasks<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

/// A slot with a future.
///
/// INVARIANT: only the owner of the task, as decided by `state`, accesses the future.
pub(super) struct Task<F> {
    state: State,
    future: Mutex<Pin<Box<Option<F>>>>,
    home: Weak<Slots<F>>,
    place: Place,
    /// True if the task was polled, or is about to be.
    has_begun: AtomicBool,
    /// The side whose receive loop may continue the task. It is none if the task began at an
    /// executor.
    side: Side,
}

/// Result of the first poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Ready,
    /// The future panicked.
    Panicked,
    /// The task is suspended, or continues elsewhere.
    Moved,
}

impl<F: Future<Output = ()> + Send + 'static> Slots<F> {
    pub(super) fn new(place: Place) -> Arc<Self> {
        Arc::new(Self {
            free: Mutex::new(Vec::new()),
            place,
        })
    }

    /// Returns a slot that holds `future`.
    fn fill(self: &Arc<Self>, future: F, queued: bool) -> Arc<Task<F>> {
        let free = lock(&self.free).pop();
        let mut task = free.unwrap_or_else(|| {
            Arc::new(Task {
                state: State::new(),
                future: Mutex::new(Box::pin(None)),
                home: Arc::downgrade(self),
                place: self.place.clone(),
                has_begun: AtomicBool::new(false),
                side: Side::default(),
            })
        });
        // Free slots have a single handle.
        if let Some(task) = Arc::get_mut(&mut task) {
            task.state.begin(queued);
            *task.has_begun.get_mut() = !queued;
            task.side = if queued {
                Side::default()
            } else {
                turn::side()
            };
        }
        lock(&task.future).set(Some(future));
        task
    }

    /// Polls `future` once in this thread. If it is not ready, calls `moved`, which returns false
    /// if the task should be cancelled; then the task continues elsewhere.
    pub(super) fn run(
        self: &Arc<Self>,
        future: F,
        moved: impl FnOnce(&Arc<dyn Cancel>) -> bool,
    ) -> First {
        let task = self.fill(future, false);
        let (polled, yields) = task.poll();
        match polled {
            Ok(Poll::Ready(())) => {
                task.end(None);
                self.keep(task);
                First::Ready
            }
            Ok(Poll::Pending) => {
                let handle: Arc<dyn Cancel> = task.clone();
                // The request was cancelled while the handler ran, and nobody else is going to
                // cancel the task.
                if !moved(&handle) {
                    handle.clone().cancel();
                }
                // Dropped first: the next owner may end the task immediately, and reuses the slot
                // only if it has the last handle.
                drop(handle);
                task.suspend(!yields);
                First::Moved
            }
            Err(panic) => {
                task.end(Some(panic));
                First::Panicked
            }
        }
    }

    /// Has `future` polled by the executor.
    pub(super) fn send(self: &Arc<Self>, future: F, moved: impl FnOnce(&Arc<dyn Cancel>) -> bool) {
        let task = self.fill(future, true);
        let handle: Arc<dyn Cancel> = task.clone();
        if !moved(&handle) {
            handle.clone().cancel();
        }
        drop(handle);
        task.queue();
    }

    /// Keeps the slot of an ended task for reuse, if there is no other handle of it.
    fn keep(&self, mut task: Arc<Task<F>>) {
        // A waker that is still held somewhere could wake the next future of the slot.
        if Arc::get_mut(&mut task).is_some() {
            let mut free = lock(&self.free);
            if free.len() < KEPT {
                free.push(task);
            }
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Task<F> {
    /// Polls the future. Also returns true if it yields. The caller must own the task.
    fn poll(self: &Arc<Self>) -> (Result<Poll<()>, Box<dyn Any + Send>>, bool) {
        let waker = Waker::from(self.clone());
        let mut context = Context::from_waker(&waker);
        // Never contended: the state lets one thread at a time poll the task.
        let mut future = lock(&self.future);
        turn::polling(|| {
            catch_unwind(AssertUnwindSafe(|| match future.as_mut().as_pin_mut() {
                Some(future) => future.poll(&mut context),
                None => Poll::Ready(()),
            }))
        })
    }

    /// Drops the future, which may panic. Requests in it that are not answered are returned with
    /// the reason for the end.
    fn end(&self, panic: Option<Box<dyn Any + Send>>) {
        let explanation = if panic.is_some() {
            Why::Panicked
        } else {
            Why::Ended
        };
        self.end_because(explanation, panic);
    }

    fn end_because(&self, explanation: Why, panic: Option<Box<dyn Any + Send>>) {
        let mut future = lock(&self.future);
        // The destructors of the future belong to the program.
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            because(explanation, || future.set(None));
        }));
        drop(future);
        for panic in panic.into_iter().chain(dropped.err()) {
            forget_panic(panic);
        }
        // Last, because the slot may be used for another future from here on.
        self.state.end();
    }

    /// Leaves a task that was polled and is not ready. `may_resume` permits a task that was woken
    /// meanwhile to continue in this thread.
    fn suspend(self: Arc<Self>, may_resume: bool) {
        match self.state.pause() {
            Paused::Waits => {}
            Paused::Again if may_resume => self.resume(),
            // The task has woken itself, and may do so repeatedly, so others come first.
            Paused::Again => self.queue(),
            Paused::Cancelled => self.end(None),
        }
    }

    /// Continues the task in this thread after the current handler, if the thread receives for the
    /// task's side; otherwise at the executor.
    fn resume(self: Arc<Self>) {
        if let Err(job) = turn::offer(self.side, Job::new(self)) {
            job.elsewhere();
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Run for Task<F> {
    fn queue(self: Arc<Self>) {
        let place = self.place.clone();
        if let Some(executor) = place.get() {
            // If the executor of the program panics, it has dropped the job, or still has it.
            catch_panic(|| executor.execute(Job::new(self)));
        }
    }

    fn refuse(self: Arc<Self>) -> bool {
        if self.has_begun.load(Ordering::Relaxed) {
            return false;
        }
        // A task that has not begun has no waker, so no other caller can own it.
        self.state.start();
        self.end_because(Why::Refused, None);
        true
    }

    fn run(self: Arc<Self>) {
        if !self.state.start() {
            return self.end(None);
        }
        self.has_begun.store(true, Ordering::Relaxed);
        let (polled, _) = self.poll();
        match polled {
            Ok(Poll::Pending) => self.suspend(false),
            done => {
                self.end(done.err());
                // The handlers may be gone. Then the slot goes with its last handle.
                if let Some(home) = self.home.upgrade() {
                    home.keep(self);
                }
            }
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Cancel for Task<F> {
    fn cancel(self: Arc<Self>) {
        if self.state.cancel() {
            self.end(None);
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Wake for Task<F> {
    fn wake(self: Arc<Self>) {
        if self.state.wake() {
            self.resume();
        }
    }
}
