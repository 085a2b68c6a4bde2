//! What a thread is at while it receives: how deep its receive loops are nested, and what is to be gone on with
//! when the handler that runs has ended.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::executor::{Absent, Job};
use super::link::Link;
use crate::endpoint::shared::Shared;

/// How many tasks a thread goes on with at most before it receives again.
const MOST: usize = 64;

/// For whom a thread receives: what is served together is one side.
///
/// A thread goes on only with tasks of the side that it receives for. One of the other side, in the same process, may
/// wait for what only the frames beneath it can bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Side(u64);

impl Side {
    /// Nobody's.
    const NONE: Self = Self(0);

    /// One that differs from all others.
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
    }
}

struct ThreadTurn {
    /// How many handlers of this thread run, one inside the other.
    depth: Cell<usize>,
    /// Whose tasks wait in `jobs` when they are woken; nobody's where that is not looked after.
    side: Cell<Side>,
    jobs: RefCell<VecDeque<(Side, Job)>>,
    /// The task that is polled here makes way for others.
    makes_way: Cell<bool>,
    /// How long handlers have waited for answers, all in all.
    waited: Cell<Duration>,
    /// The connections that messages of this thread wait in for others.
    gathered: RefCell<Vec<Weak<Shared>>>,
    /// What is dropped when this thread waits.
    kept: Cell<Option<Box<dyn Any>>>,
    /// Where this thread waits for room, each beneath the handlers that run inside of that.
    beneath: RefCell<Vec<Place>>,
}

/// A place in the queue of a connection, and how many handlers run around it.
struct Place {
    link: Arc<Link>,
    number: u64,
    depth: usize,
}

impl ThreadTurn {
    /// Whether no handler runs, and nothing waits.
    #[inline]
    fn is_idle(&self) -> bool {
        self.depth.get() == 0 && self.side.get() == Side::NONE && !self.has_jobs()
    }

    /// Whether something waits.
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
            makes_way: Cell::new(false),
            waited: Cell::new(Duration::ZERO),
            gathered: RefCell::new(Vec::new()),
            kept: Cell::new(None),
            beneath: RefCell::new(Vec::new()),
        }
    };
}

/// How many handlers of this thread run, one inside the other.
#[inline]
pub(super) fn depth() -> usize {
    TURN.with(|turn| turn.depth.get())
}

/// How long the handlers of this thread have waited for answers, all in all.
#[inline]
pub(super) fn waited() -> Duration {
    TURN.with(|turn| turn.waited.get())
}

/// What identifies this thread as long as it lives; not 0.
#[inline]
pub(super) fn token() -> usize {
    TURN.with(|turn| std::ptr::from_ref(turn).addr())
}

/// Puts back what a part of a thread's work has changed.
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

/// Runs a handler: what it wakes of its side is gone on with behind it.
#[inline]
pub(super) fn handling<R>(side: Side, work: impl FnOnce() -> R) -> R {
    let back = Back::change(1, side);
    let result = work();
    drop(back);
    go_on(side);
    result
}

/// Does something that may wake tasks. Those of that side wait until [`go_on`] is called.
#[inline]
pub(super) fn gathering<R>(side: Side, work: impl FnOnce() -> R) -> R {
    let _back = Back::change(0, side);
    work()
}

/// Waits for something, maybe inside a handler: what that has woken, or is woken now, goes elsewhere, as it may be
/// what is waited for.
pub(super) fn waiting<R>(work: impl FnOnce() -> R) -> R {
    // It may be kept also where no handler runs here: by what has gone to a worker.
    drop(TURN.with(|turn| turn.kept.take()));
    if TURN.with(ThreadTurn::is_idle) {
        let _absent = Absent::of_thread();
        return work();
    }
    let _back = Back::change(0, Side::NONE);
    let _absent = Absent::of_thread();
    send_away();
    if depth() == 0 {
        return work();
    }
    step_aside();
    let before = waited();
    let begun = Instant::now();
    let result = work();
    let waited = before.saturating_add(begun.elapsed());
    TURN.with(|turn| turn.waited.set(waited));
    result
}

/// This thread waits for room, until that is dropped.
pub(super) struct Beneath(PhantomData<*const ()>);

/// This thread waits for room in the queue of a connection.
pub(super) fn beneath(link: Arc<Link>, number: u64) -> Beneath {
    let depth = depth();
    let place = Place {
        link,
        number,
        depth,
    };
    TURN.with(|turn| turn.beneath.borrow_mut().push(place));
    Beneath(PhantomData)
}

impl Drop for Beneath {
    fn drop(&mut self) {
        drop(TURN.with(|turn| turn.beneath.borrow_mut().pop()));
    }
}

/// A handler waits, if one runs here: those beneath it that wait for room can't send before it has ended.
#[inline]
pub(super) fn step_aside() {
    let count = TURN.with(|turn| turn.beneath.borrow().len());
    for place in 0..count {
        step_aside_from(place);
    }
}

#[cold]
fn step_aside_from(place: usize) {
    let place = TURN.with(|turn| {
        let beneath = turn.beneath.borrow();
        let place = beneath.get(place)?;
        (place.depth < turn.depth.get()).then(|| (place.link.clone(), place.number))
    });
    if let Some((link, number)) = place {
        link.step_aside(number);
    }
}

/// Whether this thread may wait as it is: no handler runs here, and nobody has to see to what is woken meanwhile. What
/// is kept until it waits is dropped then.
#[inline]
pub(super) fn is_free() -> bool {
    let (is_idle, kept) = TURN.with(|turn| (turn.is_idle(), turn.kept.take()));
    let is_free = is_idle && !Absent::is_needed();
    drop(kept);
    is_free
}

/// Does something, and gives back what was kept meanwhile; that is dropped as soon as this thread waits for an answer, for
/// credit or for whatever else others may bring about, inside of that.
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

/// Whether something was woken of that side that waits for [`go_on`].
#[inline]
pub(super) fn has_jobs_of(side: Side) -> bool {
    TURN.with(|turn| turn.has_jobs() && turn.jobs.borrow().iter().any(|(of, _)| *of == side))
}

/// For whom this thread receives where it is.
#[inline]
pub(super) fn side() -> Side {
    TURN.with(|turn| turn.side.get())
}

/// The task that is polled here makes way for others: it is not to go on in this thread.
pub(super) fn make_way() {
    TURN.with(|turn| turn.makes_way.set(true));
}

/// Polls a task. Whether it makes way.
#[inline]
pub(super) fn polling<R>(poll: impl FnOnce() -> R) -> (R, bool) {
    // It may be polled beneath another one.
    let of_another = TURN.with(|turn| turn.makes_way.take());
    let result = poll();
    let makes_way = TURN.with(|turn| turn.makes_way.replace(of_another));
    (result, makes_way)
}

/// A task that was woken where those of its side are gathered, to be gone on with behind that; else it comes back.
pub(super) fn offer(side: Side, job: Job) -> Result<(), Job> {
    let mut job = Some(job);
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

/// Goes on with what was woken of that side. What that wakes in turn has its turn, too, up to a number. Answers that
/// waited for theirs are sent then.
#[inline]
pub(super) fn go_on(side: Side) {
    if TURN.with(ThreadTurn::has_jobs) {
        go_on_with_all(side);
        flush_unless_more();
    }
}

fn go_on_with_all(side: Side) {
    for _ in 0..MOST {
        let Some(job) = next_of(side) else {
            return;
        };
        let _back = Back::change(1, side);
        job.run();
    }
    send_away();
}

/// Leaves what was woken to the executors.
pub(super) fn send_away() {
    while let Some((_, job)) = TURN.with(|turn| turn.jobs.borrow_mut().pop_front()) {
        job.elsewhere();
    }
}

/// A message of this thread waits in a connection for others.
#[inline]
pub(super) fn note_gathered(shared: &Arc<Shared>) {
    TURN.with(|turn| {
        let mut gathered = turn.gathered.borrow_mut();
        let is_known = |other: &Weak<Shared>| std::ptr::eq(other.as_ptr(), Arc::as_ptr(shared));
        // Those beyond that wait for who receives there, or their timers.
        if gathered.len() < MOST && !gathered.iter().any(is_known) {
            gathered.push(Arc::downgrade(shared));
        }
    });
}

/// This thread is going to wait: what it has left to be sent with others is sent.
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

/// The same where nobody is left who looks for more.
fn flush_unless_more() {
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
            note_gathered(&shared);
        }
    }
}

/// The first that was woken of that side. Those of others, woken beneath, wait until that goes on.
fn next_of(side: Side) -> Option<Job> {
    TURN.with(|turn| {
        let mut jobs = turn.jobs.borrow_mut();
        let place = jobs.iter().position(|(of, _)| *of == side)?;
        jobs.remove(place).map(|(_, job)| job)
    })
}
