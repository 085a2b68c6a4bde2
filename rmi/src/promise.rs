//! Calls of objects that other calls, still on their way, will give.
//!
//! The caller numbers the calls that give a reference. One that names such a call is held by the server until that is
//! over, and begins then with the object that it gave. The last results are known by their calls' numbers for a while:
//! their answers may not have been read yet.
//!
//! Calls are numbered and held as they come, before others receive. Of those that name one call each begins when the one
//! before it has ended or waits for something: so they begin in the order in which they were made, however many threads
//! serve. What is held keeps its place in the peer's window, and counts among what waits. Where no more may wait it is held
//! as well, and begins when there is a place: one that went back would come again behind others. Of such, and of what names
//! a call that has not come, it is half of the window at most, so that what they wait for has room to come; a call beyond
//! that fails, as busy.

mod ahead;
mod queues;
mod turn;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::Instant;

use jstream_transport::active::{Request, Settings};

pub(crate) use self::ahead::{Ahead, Became, Made};
use self::queues::{Bounds, Placed, Queues, Why};
pub(crate) use self::turn::{Promise, Turn};
use crate::clock::{Alarm, Clock};
use crate::frame::{Code, PROMISE_NUMBERS, PROMISED, PROMISES, Word, is_of_every_server};
use crate::interface::Interface;
use crate::server::fail;
use crate::session::{IsHeld, Session};
use crate::sync::lock;

/// What the server says of a call that is not begun.
const NOT_GIVEN: &str =
    "the call that was to give its object failed, gave none, or gave one of somebody else";
const MISSING: &str = "the call that was to give its object has not come, or was given long ago";

/// The calls of one connection whose results others name, at their server; and the numbers of those that go the other way.
pub(crate) struct Promises {
    queues: Mutex<Queues<Held>>,
    next: AtomicU32,
    /// A row waits for a place among those that wait.
    is_stuck: AtomicBool,
    /// Wakes when calls are not to be held any more.
    timer: OnceLock<Option<Alarm>>,
    /// When that is.
    due: Mutex<Option<Instant>>,
    clock: Clock,
}

/// A call that is held.
struct Held {
    request: Request,
    /// It counts among those that wait.
    place: Option<IsHeld>,
}

/// What is kept with a call that names another one, or that others may name.
pub(crate) struct Named {
    pub(crate) deadline: Option<Instant>,
    /// Others name its result.
    pub(crate) promise: Option<Promise>,
    pub(crate) aim: Aim,
    /// It was held, and has a place among those that wait.
    pub(crate) place: Option<IsHeld>,
}

/// What such a call is to call.
pub(crate) enum Aim {
    Object(u32),
    /// What another one has given.
    Given(Turn),
    /// Nothing: it fails.
    Refused(Code, &'static str),
    /// The same, for want of room.
    Full,
}

/// Sees the calls that name others, or that others may name, in the order in which they come: those that have to wait are
/// held.
pub(crate) fn admit(request: Request) -> Option<Request> {
    let word = Word::of(request.word());
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
    /// Those of a side that takes so much at once.
    pub(crate) fn new(settings: &Settings, clock: Clock) -> Self {
        // What they wait for has to find room.
        let calls = usize::from(settings.window_messages) / 2;
        let bytes = settings.window_bytes / 2;
        Self {
            queues: Mutex::new(Queues::new(Bounds { calls, bytes })),
            next: AtomicU32::new(0),
            is_stuck: AtomicBool::new(false),
            timer: OnceLock::new(),
            due: Mutex::default(),
            clock,
        }
    }

    /// A call to the other side that others may name.
    pub(crate) fn make(&self, interface: &Interface) -> Made {
        Made {
            number: self.next.fetch_add(1, Ordering::Relaxed) % PROMISE_NUMBERS,
            interface: interface.id(),
        }
    }

    /// How many calls were made behind this one.
    fn behind(&self, number: u32) -> u32 {
        let next = self.next.load(Ordering::Relaxed);
        next.wrapping_sub(number) % PROMISE_NUMBERS
    }

    fn admit(
        self: &Arc<Self>,
        mut request: Request,
        word: Word,
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
            let made = Made::of(request.bytes()).map(|(made, _)| made);
            let made = made.filter(|made| named != Some(made.number));
            let made = made.filter(|made| queues.open(made.number, depth.unwrap_or(0)));
            kept.promise = made.map(|made| self.promise(made));
            if kept.promise.is_none() {
                kept.aim = Aim::Refused(
                    Code::Arguments,
                    "its number is none, or another call has it",
                );
            }
        }
        let is_refused = matches!(kept.aim, Aim::Refused(..));
        if let (Some(number), false) = (named, is_refused) {
            if depth.is_none() {
                kept.aim = Aim::Refused(Code::NotGiven, "too many calls wait for each other");
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

    fn promise(self: &Arc<Self>, made: Made) -> Promise {
        Promise {
            promises: self.clone(),
            made,
            is_open: true,
        }
    }

    /// Holds a call, or lets it begin.
    fn place(
        self: &Arc<Self>,
        number: u32,
        request: Request,
        (now, deadline): (Instant, Option<Instant>),
        may_wait: bool,
        is_ending: bool,
    ) -> Option<Request> {
        let bytes = request.bytes().len() as u64;
        let session = request.attached().filter(|_| may_wait);
        let place = session.map(IsHeld::new);
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
                    Why::NotGiven => Aim::Refused(Code::NotGiven, NOT_GIVEN),
                    _ => Aim::Full,
                };
                Some(call.aim(aim))
            }
        }
    }

    /// A call that begins, and behind which the next one does.
    fn aimed(self: &Arc<Self>, call: Held, number: u32, object: u32) -> Request {
        call.aim(Aim::Given(Turn {
            promises: self.clone(),
            number,
            object,
            is_open: true,
        }))
    }

    /// A call that has the turn of its row waits for a place among those that wait.
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

    /// There may be a place: one of the rows that wait for one goes on, and looks.
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

    /// Has it looked then whether calls are still to be held. Where no timer is to be had, that is known when the calls
    /// that they name have ended.
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
            // It may be due by now, and sweep at once. Others may have set it for sooner meanwhile.
            alarm.set(due, &sweep);
            match *lock(&self.due) {
                Some(sooner) if sooner < due => due = sooner,
                _ => return,
            }
        }
    }

    /// Ends the calls whose time is over.
    fn sweep(self: &Arc<Self>) {
        *lock(&self.due) = None;
        let mut queues = lock(&self.queues);
        let late = queues.expire(self.clock.now());
        let due = queues.due();
        drop(queues);
        self.set_timer(due);
        for (call, why) in late {
            match why {
                Why::Overdue => fail_all(vec![call], Code::TooLate, ""),
                _ => fail_all(vec![call], Code::NotGiven, MISSING),
            }
        }
    }

    /// Ends the calls that are held: no call is taken any more.
    pub(crate) fn refuse_held(&self) {
        let held = lock(&self.queues).refuse();
        fail_all(held, Code::Ending, "");
    }

    /// The connection has ended.
    pub(crate) fn end(&self) {
        let held = lock(&self.queues).end();
        drop(held);
    }
}

impl Held {
    /// The request, to be handled, which calls that.
    fn aim(self, aim: Aim) -> Request {
        let mut request = self.request;
        if let Some(mut named) = request.take_kept::<Named>() {
            (named.aim, named.place) = (aim, self.place);
            request.keep(named);
        }
        request
    }
}

/// Fails calls, and those that name them, one after another.
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

/// Looks for calls whose time is over.
struct Sweep(Weak<Promises>);

impl Wake for Sweep {
    fn wake(self: Arc<Self>) {
        if let Some(promises) = self.0.upgrade() {
            promises.sweep();
        }
    }
}
