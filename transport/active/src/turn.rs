//! Per-thread state of the receive loop: the nesting depth of handlers, and the tasks to continue
//! when the running handler has ended.
//!
//! Decisions 009 and 062 have the reasons.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::executor::{Absent, Job};
use jstream_endpoint::shared::Shared;

/// Maximum number of tasks that a thread continues before it receives again.
const MOST: usize = 64;

/// Identity of a poll group, as the side for which a thread receives.
///
/// A thread continues only tasks of the side for which it receives. A task of another side, in the
/// same process, may wait for an event that only an outer stack frame of this thread can produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Side(u64);

impl Side {
    /// No side.
    const NONE: Self = Self(0);

    /// Returns a new, unique side.
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
    }
}

struct ThreadTurn {
    /// Nesting depth of the handlers of this thread.
    depth: Cell<usize>,
    /// The side whose woken tasks are collected in `jobs`, or none.
    side: Cell<Side>,
    jobs: RefCell<VecDeque<(Side, Job)>>,
    /// True if the task that is being polled yields.
    yields: Cell<bool>,
    /// Total time for which handlers of this thread have waited.
    waited: Cell<Duration>,
    /// Connections that hold back messages of this thread to coalesce them.
    gathered: RefCell<Vec<Weak<Shared>>>,
    /// A value to drop when this thread waits.
    kept: Cell<Option<Box<dyn Any>>>,
}

impl ThreadTurn {
    /// Returns true if no handler runs and no task is collected.
    #[inline]
    fn is_idle(&self) -> bool {
        self.depth.get() == 0 && self.side.get() == Side::NONE && !self.has_jobs()
    }

    /// Returns true if tasks are collected.
    #[inline]
    fn has_jobs(&self) -> bool {
        !self.jobs.borrow().is_empty()
    }
}

thread_local! {
    static TURN: ThreadTurn = const {
        ThreadTurn {
            depth: Cell::new(0),
            side: Cell::new(Side::NONE),
            jobs: RefCell::new(VecDeque::new()),
            yields: Cell::new(false),
            waited: Cell::new(Duration::ZERO),
            gathered: RefCell::new(Vec::new()),
            kept: Cell::new(None),
        }
    };
}

/// Returns the nesting depth of the handlers of this thread.
#[inline]
pub(super) fn depth() -> usize {
    TURN.with(|turn| turn.depth.get())
}

/// Returns the total time for which handlers of this thread have waited.
#[inline]
pub(super) fn waited() -> Duration {
    TURN.with(|turn| turn.waited.get())
}

/// Returns a non-zero token that identifies this thread while it lives.
#[inline]
pub(super) fn token() -> usize {
    // The address of a variable of the thread is unique among living threads, and costs no counter.
    TURN.with(|turn| std::ptr::from_ref(turn).addr())
}

/// Guard that restores the previous depth and side.
struct Back {
    depth: usize,
    side: Side,
}

impl Back {
    #[inline]
    fn change(deeper: usize, side: Side) -> Self {
        TURN.with(|turn| {
            let depth = turn.depth.get();
            turn.depth.set(depth.saturating_add(deeper));
            Self {
                depth,
                side: turn.side.replace(side),
            }
        })
    }
}

impl Drop for Back {
    #[inline]
    fn drop(&mut self) {
        TURN.with(|turn| {
            turn.depth.set(self.depth);
            turn.side.set(self.side);
        });
    }
}

/// Runs a handler, and then the tasks of its side that it woke.
#[inline]
pub(super) fn handling<R>(side: Side, work: impl FnOnce() -> R) -> R {
    let back = Back::change(1, side);
    let result = work();
    drop(back);
    run_collected(side);
    result
}

/// Calls `work`, which may wake tasks. Those of that side are collected until [`run_collected`] is
/// called.
#[inline]
pub(super) fn gathering<R>(side: Side, work: impl FnOnce() -> R) -> R {
    let _back = Back::change(0, side);
    work()
}

/// Calls `work`, which blocks, maybe inside a handler. Tasks that were collected before, or are
/// woken meanwhile, go to their executors, because `work` may wait for them. If a handler runs,
/// `yield_turn` is called before `work`.
pub(super) fn waiting<R>(yield_turn: impl FnOnce(), work: impl FnOnce() -> R) -> R {
    // A value may be kept although no handler runs in this thread, if the handler has moved to a
    // worker.
    drop(TURN.with(|turn| turn.kept.take()));
    // Without a handler there is no budget from which the wait is subtracted, so the clock is not
    // read.
    if TURN.with(ThreadTurn::is_idle) {
        let _absent = Absent::of_thread();
        return work();
    }
    // Tasks that are woken during the wait go to their executors, because this thread cannot run
    // them.
    let _back = Back::change(0, Side::NONE);
    let _absent = Absent::of_thread();
    send_away();
    if depth() == 0 {
        return work();
    }
    yield_turn();
    let before = waited();
    let begun = Instant::now();
    let result = work();
    let waited = before.saturating_add(begun.elapsed());
    TURN.with(|turn| turn.waited.set(waited));
    result
}

/// Returns true if this thread may block without preparation: no handler runs, and no woken tasks
/// have to be collected. Drops the value that is kept until this thread waits.
#[inline]
pub(super) fn is_free() -> bool {
    let (is_idle, kept) = TURN.with(|turn| (turn.is_idle(), turn.kept.take()));
    let is_free = is_idle && !Absent::is_needed();
    // Dropped without a borrow of the thread's state, because the value belongs to the program.
    drop(kept);
    is_free
}

/// Calls `work`, and returns its result with `kept`. If this thread waits inside `work`, for an
/// answer, credit or another event, `kept` is dropped first and `None` is returned instead.
pub fn until_waiting<T: 'static, R>(kept: T, work: impl FnOnce() -> R) -> (Option<T>, R) {
    struct Before(Option<Box<dyn Any>>);
    impl Drop for Before {
        fn drop(&mut self) {
            drop(TURN.with(|turn| turn.kept.replace(self.0.take())));
        }
    }
    let before = Before(TURN.with(|turn| turn.kept.replace(Some(Box::new(kept)))));
    let result = work();
    let kept = TURN.with(|turn| turn.kept.take());
    drop(before);
    let kept = kept.and_then(|kept| kept.downcast().ok());
    (kept.map(|kept| *kept), result)
}

/// Returns true if tasks of that side were collected for [`run_collected`].
#[inline]
pub(super) fn has_jobs_of(side: Side) -> bool {
    TURN.with(|turn| turn.has_jobs() && turn.jobs.borrow().iter().any(|(of, _)| *of == side))
}

/// Returns the side for which this thread receives.
#[inline]
pub(super) fn side() -> Side {
    TURN.with(|turn| turn.side.get())
}

/// Marks the task that is being polled as one that yields: it must not continue in this thread.
pub(super) fn mark_yielding() {
    TURN.with(|turn| turn.yields.set(true));
}

/// Polls a task. Returns its result, and true if it yields.
#[inline]
pub(super) fn polling<R>(poll: impl FnOnce() -> R) -> (R, bool) {
    // The poll may be nested in that of another task.
    let of_another = TURN.with(|turn| turn.yields.take());
    let result = poll();
    let yields = TURN.with(|turn| turn.yields.replace(of_another));
    (result, yields)
}

/// Collects a woken task if this thread collects tasks of that side; otherwise returns it.
pub(super) fn offer(side: Side, job: Job) -> Result<(), Job> {
    let mut job = Some(job);
    // The state is gone while the thread ends. The task then goes to its executor.
    let offered = TURN.try_with(|turn| {
        if side != Side::NONE && turn.side.get() == side {
            let mut jobs = turn.jobs.borrow_mut();
            if jobs.len() < MOST {
                jobs.extend(job.take().map(|job| (side, job)));
            }
        }
    });
    match (offered, job) {
        (_, Some(job)) => Err(job),
        (_, None) => Ok(()),
    }
}

/// Runs the collected tasks of that side, and those that they wake, up to a limit. Then sends the
/// answers that were held back.
#[inline]
pub(super) fn run_collected(side: Side) {
    if TURN.with(ThreadTurn::has_jobs) {
        run_all_collected(side);
        flush_unless_more();
    }
}

fn run_all_collected(side: Side) {
    for _ in 0..MOST {
        let Some(job) = next_of(side) else {
            return;
        };
        // The task may wake others, which are collected in turn.
        let _back = Back::change(1, side);
        job.run();
    }
    // Tasks that wake each other without end must not keep this thread from receiving.
    send_away();
}

/// Passes the collected tasks to their executors.
pub(super) fn send_away() {
    while let Some((_, job)) = TURN.with(|turn| turn.jobs.borrow_mut().pop_front()) {
        job.elsewhere();
    }
}

/// Records that a connection holds back a message of this thread.
#[inline]
pub(super) fn record_gathered(shared: &Arc<Shared>) {
    TURN.with(|turn| {
        let mut gathered = turn.gathered.borrow_mut();
        let is_known = |other: &Weak<Shared>| std::ptr::eq(other.as_ptr(), Arc::as_ptr(shared));
        // Connections beyond the limit are flushed by their pollers or by a timer.
        if gathered.len() < MOST && !gathered.iter().any(is_known) {
            gathered.push(Arc::downgrade(shared));
        }
    });
}

/// Sends the messages of this thread that were held back. Called before the thread blocks.
#[inline]
pub(super) fn flush() {
    if TURN.with(|turn| !turn.gathered.borrow().is_empty()) {
        flush_all();
    }
}

fn flush_all() {
    while let Some(shared) = TURN.with(|turn| turn.gathered.borrow_mut().pop()) {
        if let Some(shared) = shared.upgrade() {
            shared.flush();
        }
    }
}

/// Sends the messages that were held back in connections with no more received messages.
fn flush_unless_more() {
    // Each connection is visited once, although some are recorded again.
    for _ in 0..TURN.with(|turn| turn.gathered.borrow().len()) {
        let first = TURN.with(|turn| {
            let mut gathered = turn.gathered.borrow_mut();
            (!gathered.is_empty()).then(|| gathered.swap_remove(0))
        });
        let Some(shared) = first.and_then(|shared| shared.upgrade()) else {
            continue;
        };
        shared.flush_unless_more();
        if shared.has_more() {
            record_gathered(&shared);
        }
    }
}

/// Takes the first collected task of that side. Tasks of other sides, woken in outer frames, stay.
fn next_of(side: Side) -> Option<Job> {
    TURN.with(|turn| {
        let mut jobs = turn.jobs.borrow_mut();
        let place = jobs.iter().position(|(of, _)| *of == side)?;
        jobs.remove(place).map(|(_, job)| job)
    })
}
