//! Calls of objects that other calls, still on their way, will give.
//!
//! The caller numbers the calls that give a reference. One that names such a call is held by the server until that is
//! over, and begins then with the object that it gave. The last results are known by their calls' numbers for a while:
//! their answers may not have been read yet.
//!
//! Calls are numbered and held as they come, before others receive. Of those that name one call each begins when the one
//! before it has ended or waits for something: so they begin in the order in which they were made, however many threads
//! serve. What is held keeps its place in the peer's window, and counts among what waits; of what names a call that has
//! not come it is half of the window at most, so that this has room to come.

mod queues;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::Instant;

use jstream_transport::active::{Request, Settings, is_given_back};

use self::queues::{Bounds, Placed, Queues, Why};

use crate::clock::{Alarm, Clock};
use crate::frame::{Code, PROMISE_NUMBERS, PROMISED, PROMISES, Word, is_of_every_server};
use crate::interface::Interface;
use crate::object::Object;
use crate::reference::Between;
use crate::server::fail;
use crate::session::{Connection, Session, Waits};
use crate::sync::lock;

/// An object is called by its call's number only so long: later the server may have forgotten that.
const KNOWN_FOR: u32 = 512;

/// What stands behind the arguments of a call that others name: its number and the id of an interface.
const LENGTH: usize = 12;

/// What the server says of a call that is not begun.
const NOT_GIVEN: &str =
    "the call that was to give its object failed, gave none, or gave one of somebody else";
const MISSING: &str = "the call that was to give its object has not come, or was given long ago";

/// A call that others may name, as it says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Made {
    pub(crate) number: u32,
    interface: u64,
}

impl Made {
    /// What stands behind the arguments.
    pub(crate) fn to_wire(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (number, interface) = bytes.split_at_mut(4);
        number.copy_from_slice(&self.number.to_le_bytes());
        interface.copy_from_slice(&self.interface.to_le_bytes());
        bytes
    }

    /// The same, and how long the arguments are.
    pub(crate) fn of(payload: &[u8]) -> Option<(Self, usize)> {
        let length = payload.len().checked_sub(LENGTH)?;
        let (number, interface) = payload.get(length..)?.split_at_checked(4)?;
        let made = Self {
            number: u32::from_le_bytes(number.try_into().ok()?),
            interface: u64::from_le_bytes(interface.try_into().ok()?),
        };
        (made.number < PROMISE_NUMBERS).then_some((made, length))
    }
}

/// What a call has given, when that is known: nothing where it has failed.
pub(crate) type Became = OnceLock<Option<Object>>;

/// What a call on its way will give, at its caller.
pub(crate) struct Ahead {
    /// None of a call of an object of this program.
    at: Option<(Connection, u32)>,
    /// Calls that name it have one, too, until they are over: so long the object is not given back.
    became: Arc<Became>,
    /// One of these is not answered, so that nobody knows when it is over.
    has_unanswered: AtomicBool,
}

impl Ahead {
    pub(crate) fn new(at: Option<(Connection, u32)>) -> Self {
        Self {
            at,
            became: Arc::default(),
            has_unanswered: AtomicBool::new(false),
        }
    }

    /// The call is over.
    pub(crate) fn settle(&self, object: Option<Object>) {
        drop(self.became.set(object));
    }

    pub(crate) fn object(&self) -> Option<&Object> {
        self.became.get()?.as_ref()
    }

    /// By what number it is called meanwhile.
    pub(crate) fn way(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        Some((connection, number | PROMISED))
    }

    /// The same, also of what has come, while others called it so that are not over: none is to overtake them.
    pub(crate) fn way_behind_others(&self) -> Option<(&Connection, u32)> {
        let (connection, number) = self.at.as_ref()?;
        let is_alone =
            || Arc::strong_count(&self.became) == 1 && !self.has_unanswered.load(Ordering::Relaxed);
        let is_gone = self.became.get().is_some()
            && (is_alone() || connection.session().promises.behind(*number) > KNOWN_FOR);
        (!is_gone).then_some((connection, number | PROMISED))
    }

    /// A call has named it that nobody answers.
    pub(crate) fn called_one_way(&self) {
        self.has_unanswered.store(true, Ordering::Relaxed);
    }

    /// What a call that names it has until it is over.
    pub(crate) fn called(&self) -> Arc<Became> {
        self.became.clone()
    }

    /// Why it can't be called.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        match (self.became.get(), &self.at) {
            (Some(None), _) => {
                Some("the call that was to give its object was given up, or gave none")
            }
            (None, None) => Some(
                "the call that gives its object is of an object of this program: wait for that first",
            ),
            _ => None,
        }
    }
}

/// The calls of one connection whose results others name, at their server; and the numbers of those that go the other way.
pub(crate) struct Promises {
    queues: Mutex<Queues<Held>>,
    next: AtomicU32,
    /// Wakes when calls are not to be held any more.
    timer: OnceLock<Option<Alarm>>,
    /// When that is.
    due: Mutex<Option<Instant>>,
    clock: Clock,
}

/// A call that is held, and counts among those that wait.
struct Held {
    request: Request,
    _waits: Waits,
}

/// What is kept with a call that names another one, or that others may name.
pub(crate) struct Named {
    pub(crate) deadline: Option<Instant>,
    /// Others name its result.
    pub(crate) promise: Option<Promise>,
    pub(crate) aim: Aim,
}

/// What such a call is to call.
pub(crate) enum Aim {
    Object(u32),
    /// What another one has given.
    Given(Turn),
    /// Nothing: it fails.
    Refused(Code, &'static str),
    /// It goes back for now.
    Busy,
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
    pub(crate) fn new(max_waiting: usize, settings: &Settings, clock: Clock) -> Self {
        // What they wait for has to find room.
        let calls = usize::from(settings.window_messages).min(max_waiting) / 2;
        let bytes = settings.window_bytes / 2;
        Self {
            queues: Mutex::new(Queues::new(Bounds { calls, bytes })),
            next: AtomicU32::new(0),
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
                return self.place(number, request, (now, deadline), may_wait && !is_ending);
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
    ) -> Option<Request> {
        let bytes = request.bytes().len() as u64;
        let _waits = Waits::new(request.mark());
        let call = Held { request, _waits };
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
                    _ => Aim::Busy,
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
        let held = lock(&self.queues).take_all();
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
            named.aim = aim;
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

/// A call whose result others name. They fail when it is dropped, and wait on where it goes back and may come again.
pub(crate) struct Promise {
    promises: Arc<Promises>,
    made: Made,
    is_open: bool,
}

impl Promise {
    /// The call has given an object of this side: those that name it begin, one behind the other.
    pub(crate) fn keep(mut self, object: u32, to: &Between) {
        let Between::Peers(to) = to else { return };
        let node = to.references().object(object);
        if node.is_none_or(|node| node.interface().id() != self.made.interface) {
            return;
        }
        self.is_open = false;
        let number = self.made.number;
        let first = lock(&self.promises.queues).gave(number, object);
        if let Some(first) = first {
            self.promises.aimed(first, number, object).run_again();
        }
    }

    /// Whether calls wait for it.
    pub(crate) fn is_named(&self) -> bool {
        lock(&self.promises.queues).is_named(self.made.number)
    }

    /// The call goes back, and may come again.
    pub(crate) fn forget(mut self) {
        self.go_back();
    }

    /// The call has given nothing: those that name it.
    fn give_none(&mut self) -> Vec<Held> {
        self.is_open = false;
        lock(&self.promises.queues).gave_none(self.made.number)
    }

    fn go_back(&mut self) {
        self.is_open = false;
        let mut queues = lock(&self.promises.queues);
        queues.went_back(self.made.number, self.promises.clock.now());
        let due = queues.due_of(self.made.number);
        drop(queues);
        self.promises.set_timer(due);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        if is_given_back() {
            return self.go_back();
        }
        fail_all(self.give_none(), Code::NotGiven, NOT_GIVEN);
    }
}

/// The turn of one of the calls that name another one, to begin. The next one has it when this is dropped.
pub(crate) struct Turn {
    promises: Arc<Promises>,
    number: u32,
    pub(crate) object: u32,
    is_open: bool,
}

impl Turn {
    /// The next call, to be handled now.
    pub(crate) fn next(mut self) -> Option<Request> {
        self.pass()
    }

    fn pass(&mut self) -> Option<Request> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let next = lock(&self.promises.queues).next(self.number)?;
        Some(self.promises.aimed(next, self.number, self.object))
    }
}

/// Where its thread goes on with something else, or waits.
impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(next) = self.pass() {
            next.run_again();
        }
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Promise").field(&self.made).finish()
    }
}
