//! Pipelined calls: calls of objects that other calls, still in flight, will return.
//!
//! The caller numbers the calls that return a reference. The server holds a call that names such a
//! call until the named call has ended, and then starts it with the returned object. The server
//! remembers the most recent results by call number for a while, because the caller may not have
//! read the answers yet.
//!
//! Calls are numbered and held in order of arrival, before another thread takes over receiving.
//! Among the calls that name the same call, each starts when the previous one has ended or is
//! suspended. They therefore start in the order in which they were made, regardless of the number
//! of serving threads. A held call keeps its place in the peer's flow-control window, and counts as
//! a waiting call. If the limit of waiting calls is reached, a call is held as well, and starts
//! when there is room: if it were returned, its retry would arrive behind later calls. Such calls,
//! and those that name a call which has not arrived, take at most half of the window, so that the
//! calls on which they depend have room to arrive. A call beyond that fails as busy.

mod ahead;
mod queues;
mod turn;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::Instant;

use jstream_transport::active::{Request, Settings};

pub(crate) use self::ahead::{Ahead, Became, CallTrailer};
use self::queues::{Bounds, NotHeld, Placed, Queues};
pub(crate) use self::turn::{Promise, Turn};
use crate::clock::{Alarm, Clock};
use crate::frame::{CallHeader, Code, PROMISE_NUMBERS, PROMISED, PROMISES, is_of_every_server};
use crate::interface::Interface;
use crate::server::fail;
use crate::session::{CallCounts, IsHeld, Session};
use crate::sync::lock;

/// Error text for a call that is not started.
const NOT_GIVEN: &str =
    "the call that should have returned the object failed, or returned no object of this server";
const MISSING: &str =
    "the call that should have returned the object has not arrived, or ended too long ago";

/// The pipelined calls of one connection at their server, and the numbers of the calls that this
/// side makes.
pub(crate) struct Promises {
    queues: Mutex<Queues<Held>>,
    next: AtomicU32,
    /// True while a queue waits for room within the limit of waiting calls.
    is_stuck: AtomicBool,
    /// Alarm for the next expiry of a held call.
    timer: OnceLock<Option<Alarm>>,
    /// Time for which the alarm is set.
    due: Mutex<Option<Instant>>,
    clock: Clock,
    /// Counts of the calls of the connection.
    counts: Arc<CallCounts>,
}

/// A held call.
struct Held {
    request: Request,
    /// Entry among the waiting calls, if the call counts as one.
    place: Option<IsHeld>,
}

/// State that is attached to the request of a call that names another one, or that others may name.
pub(crate) struct Named {
    pub(crate) deadline: Option<Instant>,
    /// Present if other calls may name the result.
    pub(crate) promise: Option<Promise>,
    pub(crate) aim: Aim,
    /// Entry among the waiting calls, if the call was held.
    pub(crate) place: Option<IsHeld>,
}

/// Target of such a call.
pub(crate) enum Aim {
    Object(u32),
    /// The object that another call has returned.
    Given(Turn),
    /// None: the call fails.
    Refused(Code, &'static str),
    /// None: the call fails because a limit is reached.
    Full,
}

/// Admits calls that name others, or that others may name, in order of arrival. Returns `None` if
/// the call is held.
pub(crate) fn admit(request: Request) -> Option<Request> {
    let word = CallHeader::of(request.word());
    let Some(session) = request.attached::<Session>() else {
        return Some(request);
    };
    if is_of_every_server(word.object) {
        return Some(request);
    }
    let (may_wait, is_ending) = (session.may_wait(), session.is_ending());
    let promises = session.promises.clone();
    promises.admit(request, word, may_wait, is_ending)
}

impl Promises {
    /// Creates the state of a connection with these flow-control windows.
    pub(crate) fn new(settings: &Settings, clock: Clock, counts: Arc<CallCounts>) -> Self {
        // The calls on which held calls depend must find room in the window.
        let calls = usize::from(settings.window_messages) / 2;
        let bytes = settings.window_bytes / 2;
        Self {
            queues: Mutex::new(Queues::new(Bounds { calls, bytes })),
            next: AtomicU32::new(0),
            is_stuck: AtomicBool::new(false),
            timer: OnceLock::new(),
            due: Mutex::default(),
            clock,
            counts,
        }
    }

    /// Numbers a call to the other side, so that other calls may name it.
    pub(crate) fn make(&self, interface: &Interface) -> CallTrailer {
        CallTrailer {
            number: self.next.fetch_add(1, Ordering::Relaxed) % PROMISE_NUMBERS,
            interface: interface.id(),
        }
    }

    /// Returns the counts of the calls of the connection.
    pub(crate) fn counts(&self) -> &CallCounts {
        &self.counts
    }

    /// Returns how many calls were numbered since this one.
    pub(crate) fn behind(&self, number: u32) -> u32 {
        let next = self.next.load(Ordering::Relaxed);
        next.wrapping_sub(number) % PROMISE_NUMBERS
    }

    fn admit(
        self: &Arc<Self>,
        mut request: Request,
        word: CallHeader,
        may_wait: bool,
        is_ending: bool,
    ) -> Option<Request> {
        let now = self.clock.now();
        let deadline = word.time.and_then(|time| now.checked_add(time));
        let number = word.object & !(PROMISES | PROMISED);
        let named = (word.object & PROMISED != 0).then_some(number);
        let mut kept = Named {
            deadline,
            promise: None,
            aim: Aim::Object(number),
            place: None,
        };
        let mut queues = lock(&self.queues);
        let depth = named.map_or(Some(0), |number| queues.depth_behind(number));
        if number >= PROMISE_NUMBERS && named.is_some() {
            kept.aim = Aim::Refused(Code::UnknownObject, "");
        } else if word.object & PROMISES != 0 {
            let made = CallTrailer::of(request.bytes()).map(|(made, _)| made);
            let made = made.filter(|made| named != Some(made.number));
            let made = made.filter(|made| queues.open(made.number, depth.unwrap_or(0)));
            kept.promise = made.map(|made| self.promise(made));
            if kept.promise.is_none() {
                kept.aim = Aim::Refused(
                    Code::Arguments,
                    "the number of the call is invalid or already in use",
                );
            }
        }
        let is_refused = matches!(kept.aim, Aim::Refused(..));
        if let (Some(number), false) = (named, is_refused) {
            if depth.is_none() {
                kept.aim = Aim::Refused(Code::NotGiven, "the chain of pipelined calls is too long");
            } else {
                drop(queues);
                request.keep(Box::new(kept));
                return self.place(number, request, (now, deadline), may_wait, is_ending);
            }
        }
        drop(queues);
        request.keep(Box::new(kept));
        Some(request)
    }

    fn promise(self: &Arc<Self>, made: CallTrailer) -> Promise {
        Promise {
            promises: self.clone(),
            made,
            is_open: true,
        }
    }

    /// Holds a call, or lets it start.
    fn place(
        self: &Arc<Self>,
        number: u32,
        request: Request,
        (now, deadline): (Instant, Option<Instant>),
        may_wait: bool,
        is_ending: bool,
    ) -> Option<Request> {
        let bytes = request.bytes().len() as u64;
        let place = may_wait.then(|| IsHeld::new(self.counts.clone()));
        let call = Held { request, place };
        if is_ending {
            return Some(call.aim(Aim::Full));
        }
        let mut queues = lock(&self.queues);
        let placed = queues.place(number, (call, bytes), deadline, now, may_wait);
        let due = queues.due_of(number);
        drop(queues);
        match placed {
            Placed::Held => {
                self.set_timer(due);
                None
            }
            Placed::Begins(call, object) => Some(self.aimed(call, number, object)),
            Placed::Refused(call, why) => {
                let aim = match why {
                    NotHeld::NotGiven => Aim::Refused(Code::NotGiven, NOT_GIVEN),
                    _ => Aim::Full,
                };
                Some(call.aim(aim))
            }
        }
    }

    /// Gives a call its object, and the right to start. The next call in the queue starts after it.
    fn aimed(self: &Arc<Self>, call: Held, number: u32, object: u32) -> Request {
        call.aim(Aim::Given(Turn {
            promises: self.clone(),
            number,
            object,
            is_open: true,
        }))
    }

    /// Lets a call that is first in its queue wait for room within the limit of waiting calls.
    /// Returns its request if the connection has ended or the server is shutting down.
    fn stand(
        self: &Arc<Self>,
        number: u32,
        request: Request,
        deadline: Option<Instant>,
    ) -> Option<Request> {
        let bytes = request.bytes().len() as u64;
        let call = Held {
            request,
            place: None,
        };
        let mut queues = lock(&self.queues);
        let back = queues.stand(number, (call, bytes), deadline);
        self.is_stuck.store(queues.is_stuck(), Ordering::SeqCst);
        drop(queues);
        self.set_timer(deadline);
        back.map(|call| call.request)
    }

    /// Called when there may be room: resumes one of the queues that wait for it.
    #[inline]
    pub(crate) fn go_on(self: &Arc<Self>) {
        if self.is_stuck.load(Ordering::SeqCst) {
            self.one_goes_on();
        }
    }

    #[cold]
    fn one_goes_on(self: &Arc<Self>) {
        let mut queues = lock(&self.queues);
        let first = queues.go_on();
        self.is_stuck.store(queues.is_stuck(), Ordering::SeqCst);
        drop(queues);
        if let Some((call, number, object)) = first {
            self.aimed(call, number, object).run_again();
        }
    }

    /// Sets the timer to check for expired calls at `due`. If no timer is available, expired calls
    /// are found when the calls that they name have ended.
    fn set_timer(self: &Arc<Self>, due: Option<Instant>) {
        let Some(mut due) = due else { return };
        let Some(alarm) = self.timer.get_or_init(|| Alarm::new(&self.clock).ok()) else {
            return;
        };
        let mut set = lock(&self.due);
        if set.is_some_and(|set| set <= due) {
            return;
        }
        *set = Some(due);
        drop(set);
        let sweep = Waker::from(Arc::new(Sweep(Arc::downgrade(self))));
        loop {
            // The alarm may fire and sweep at once. Another thread may have set an earlier time.
            alarm.set(due, &sweep);
            match *lock(&self.due) {
                Some(sooner) if sooner < due => due = sooner,
                _ => return,
            }
        }
    }

    /// Fails the held calls that have expired.
    fn sweep(self: &Arc<Self>) {
        *lock(&self.due) = None;
        let mut queues = lock(&self.queues);
        let late = queues.expire(self.clock.now());
        let due = queues.due();
        drop(queues);
        self.set_timer(due);
        for (call, why) in late {
            match why {
                NotHeld::Overdue => fail_all(vec![call], Code::TooLate, ""),
                _ => fail_all(vec![call], Code::NotGiven, MISSING),
            }
        }
    }

    /// Fails all held calls, because the server accepts no more calls.
    pub(crate) fn refuse_held(&self) {
        let held = lock(&self.queues).refuse();
        fail_all(held, Code::Ending, "");
    }

    /// Drops all held calls, because the connection has ended.
    pub(crate) fn end(&self) {
        let held = lock(&self.queues).end();
        drop(held);
    }
}

impl Held {
    /// Sets the target of the call and returns its request, ready to be handled.
    fn aim(self, aim: Aim) -> Request {
        let mut request = self.request;
        if let Some(mut named) = request.take_kept::<Named>() {
            (named.aim, named.place) = (aim, self.place);
            request.keep(named);
        }
        request
    }
}

/// Fails calls and, iteratively, the calls that name them.
fn fail_all(calls: Vec<Held>, code: Code, why: &str) {
    let mut failing: VecDeque<_> = calls
        .into_iter()
        .map(|call| (call.request, code, why))
        .collect();
    while let Some((mut request, code, why)) = failing.pop_front() {
        let named = request.take_kept::<Named>();
        if let Some(mut promise) = named.and_then(|named| named.promise) {
            let next = promise.give_none().into_iter();
            failing.extend(next.map(|call| (call.request, Code::NotGiven, NOT_GIVEN)));
        }
        fail(request, code, why);
    }
}

/// Waker that checks for expired calls.
struct Sweep(Weak<Promises>);

impl Wake for Sweep {
    fn wake(self: Arc<Self>) {
        if let Some(promises) = self.0.upgrade() {
            promises.sweep();
        }
    }
}
