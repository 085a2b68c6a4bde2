//! Handlers' futures: where they stand, and how they are polled.
//!
//! A future is put where it stays: behind a pointer that was allocated for another one of its kind before, and is
//! kept for the next. So it may be polled in the receive loop and go to an executor as it is, and in steady state
//! nothing is allocated. That it never moves the compiler knows: it is reached as `Pin<Box<_>>` alone.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};

use super::error::Reason;
use super::executor::{Executor, Job};
use super::request::Mark;
use super::state::{Paused, State};
use super::sync::{Mutex, lock};
use super::turn::{self, Side};

/// How many slots of a handler are kept for the next requests.
const KEPT: usize = 256;

/// Where the tasks of a table go that wait; there when the table is.
pub(super) type Place = Arc<OnceLock<Arc<dyn Executor>>>;

/// What an executor is given.
pub(super) trait Run: Send + Sync {
    fn run(self: Arc<Self>);

    /// Has it run by its executor.
    fn queue(self: Arc<Self>);

    /// Gives it up, unless it has begun: then its request goes back as busy.
    fn refuse(self: Arc<Self>) -> bool;
}

/// What whoever cancels a request has.
pub(super) trait Cancel: Send + Sync {
    fn cancel(self: Arc<Self>);
}

/// The slots of one handler, on cache lines of their own.
#[repr(align(128))]
pub(super) struct Slots<F> {
    free: Mutex<Vec<Arc<Task<F>>>>,
    place: Place,
}

/// Futures of one kind that begin where a handler runs, as those of `async` handlers do: each is polled once there, and
/// goes on at an executor if it has to wait. Their slots are used again.
///
/// A handler that finds out only from its request what is to be run has some of these.
pub struct Tasks<F> {
    slots: Arc<Slots<F>>,
}

/// What came of a task's first poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Began {
    /// It has ended.
    Ended,
    /// It panicked, and has ended.
    Panicked,
    /// It goes on elsewhere.
    Moved,
}

impl<F: Future<Output = ()> + Send + 'static> Tasks<F> {
    /// None, for an executor.
    #[must_use]
    pub fn new(executor: Arc<dyn Executor>) -> Self {
        Self {
            slots: Slots::new(Arc::new(OnceLock::from(executor))),
        }
    }

    /// Polls a future once, here and now, for the request of that mark, by whose maker it is cancelled where it waits.
    pub fn run(&self, mark: &Mark, future: F) -> Began {
        match self.slots.run(future, |task| mark.note(task)) {
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

/// A slot, and the future in it.
///
/// Invariant: the future is touched by who was given the task by its state, and by nobody else.
pub(super) struct Task<F> {
    state: State,
    future: Mutex<Pin<Box<Option<F>>>>,
    home: Weak<Slots<F>>,
    place: Place,
    /// It was polled, or is about to be.
    has_begun: AtomicBool,
    /// Who goes on with it behind what has woken it: those who receive for the side that it began at. Nobody does where
    /// it began elsewhere.
    side: Side,
}

/// What came of the first poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Ready,
    /// It panicked.
    Panicked,
    /// It waits, or goes on elsewhere.
    Moved,
}

impl<F: Future<Output = ()> + Send + 'static> Slots<F> {
    pub(super) fn new(place: Place) -> Arc<Self> {
        Arc::new(Self {
            free: Mutex::new(Vec::new()),
            place,
        })
    }

    /// A slot that holds `future`.
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
        // Free slots have one handle.
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

    /// Polls `future` once, here and now. One that is not ready is shown to `moved`, which says whether it is
    /// still wanted, and goes on elsewhere.
    pub(super) fn run(
        self: &Arc<Self>,
        future: F,
        moved: impl FnOnce(&Arc<dyn Cancel>) -> bool,
    ) -> First {
        let task = self.fill(future, false);
        let (polled, makes_way) = task.poll();
        match polled {
            Ok(Poll::Ready(())) => {
                task.end(None);
                self.keep(task);
                First::Ready
            }
            Ok(Poll::Pending) => {
                let handle: Arc<dyn Cancel> = task.clone();
                if !moved(&handle) {
                    handle.clone().cancel();
                }
                // Whoever goes on with it may end it at once, and keeps the slot if no other handle is left.
                drop(handle);
                task.leave(!makes_way);
                First::Moved
            }
            Err(panic) => {
                task.end(Some(panic));
                First::Panicked
            }
        }
    }

    /// Has `future` polled elsewhere.
    pub(super) fn send(self: &Arc<Self>, future: F, moved: impl FnOnce(&Arc<dyn Cancel>) -> bool) {
        let task = self.fill(future, true);
        let handle: Arc<dyn Cancel> = task.clone();
        if !moved(&handle) {
            handle.clone().cancel();
        }
        drop(handle);
        task.queue();
    }

    /// Keeps the slot of a task that has ended, if nobody else can reach it.
    fn keep(&self, mut task: Arc<Task<F>>) {
        if Arc::get_mut(&mut task).is_some() {
            let mut free = lock(&self.free);
            if free.len() < KEPT {
                free.push(task);
            }
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Task<F> {
    /// Polls the future, and whether that makes way for others. The caller was given the task by its state.
    fn poll(self: &Arc<Self>) -> (Result<Poll<()>, Box<dyn Any + Send>>, bool) {
        let waker = Waker::from(self.clone());
        let mut context = Context::from_waker(&waker);
        let mut future = lock(&self.future);
        turn::polling(|| {
            catch_unwind(AssertUnwindSafe(|| match future.as_mut().as_pin_mut() {
                Some(future) => future.poll(&mut context),
                None => Poll::Ready(()),
            }))
        })
    }

    /// Drops the future, which may panic. What it has of a request is answered by why it ended.
    fn end(&self, panic: Option<Box<dyn Any + Send>>) {
        let why = if panic.is_some() {
            Why::Panicked
        } else {
            Why::Ended
        };
        self.end_because(why, panic);
    }

    fn end_because(&self, why: Why, panic: Option<Box<dyn Any + Send>>) {
        let mut future = lock(&self.future);
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            because(why, || future.set(None));
        }));
        drop(future);
        for panic in panic.into_iter().chain(dropped.err()) {
            forget_panic(panic);
        }
        self.state.end();
    }

    /// Leaves a task that was polled and is not ready. One that was woken meanwhile may go on in this thread, or may not.
    fn leave(self: Arc<Self>, may_go_on: bool) {
        match self.state.pause() {
            Paused::Waits => {}
            Paused::Again if may_go_on => self.go_on(),
            // It has woken itself, and may do so again: others come first.
            Paused::Again => self.queue(),
            Paused::Cancelled => self.end(None),
        }
    }

    /// Has it gone on with by this thread, when it has done what it is at, if it receives for the task's side; else by
    /// the executor.
    fn go_on(self: Arc<Self>) {
        if let Err(job) = turn::offer(self.side, Job::new(self)) {
            job.elsewhere();
        }
    }
}

impl<F: Future<Output = ()> + Send + 'static> Run for Task<F> {
    fn queue(self: Arc<Self>) {
        let place = self.place.clone();
        if let Some(executor) = place.get() {
            executor.execute(Job::new(self));
        }
    }

    fn refuse(self: Arc<Self>) -> bool {
        if self.has_begun.load(Ordering::Relaxed) {
            return false;
        }
        // Nobody else has it: one that has not begun was woken by nobody.
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
            Ok(Poll::Pending) => self.leave(false),
            done => {
                self.end(done.err());
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
            self.go_on();
        }
    }
}

/// Why a future is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Ended,
    Panicked,
    /// There is no room for it.
    Refused,
}

thread_local! {
    /// Why what is dropped now is dropped.
    static WHY: Cell<Why> = const { Cell::new(Why::Ended) };
}

/// Does `work`, in which requests that are dropped are answered by that.
fn because(why: Why, work: impl FnOnce()) {
    struct Back(Why);
    impl Drop for Back {
        fn drop(&mut self) {
            WHY.set(self.0);
        }
    }
    let _back = Back(WHY.replace(why));
    work();
}

/// Why a request goes back that is dropped now, without an answer.
pub(super) fn reason() -> Reason {
    match WHY.get() {
        Why::Refused => Reason::Busy,
        Why::Panicked => Reason::Panicked,
        Why::Ended if std::thread::panicking() => Reason::Panicked,
        Why::Ended => Reason::Unanswered,
    }
}

/// Drops what somebody had who has panicked.
pub(super) fn panicked(work: impl FnOnce()) {
    because(Why::Panicked, work);
}

/// Drops what is kept with a request that goes back, which may come again if it is `busy`.
pub(super) fn giving_back(busy: bool, work: impl FnOnce()) {
    because(if busy { Why::Refused } else { Why::Ended }, work);
}

/// Whether what is dropped now is [kept with a request](super::Request::keep) that goes back as [busy](Reason::Busy), and may
/// come again.
#[must_use]
pub fn is_given_back() -> bool {
    WHY.get() == Why::Refused
}

/// Drops what a handler panicked with, which may panic in turn.
pub(super) fn forget_panic(mut panic: Box<dyn Any + Send>) {
    const PATIENCE: usize = 8;
    for _ in 0..PATIENCE {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(again) => panic = again,
        }
    }
    // Whoever panics out of `Drop` without end keeps its memory.
    mem::forget(panic);
}
