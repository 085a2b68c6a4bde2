//! Admission of pipelined calls: a call is held until the call that it names has ended.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Instant;

use jstream_transport::active::Request;

use crate::frame::{CallHeader, CallTrailer, Code, PROMISE_NUMBERS, PROMISED, PROMISES};
use crate::session::clock::Alarm;
use crate::session::pipelining::promises::{Held, Promises};
use crate::session::pipelining::queues::{NotHeld, Placed};
use crate::session::pipelining::turn::{Aim, NOT_GIVEN, Named, Promise, Turn, fail_all};
use crate::session::waiting::IsHeld;
use crate::support::lock;

const MISSING: &str =
    "the call that should have returned the object has not arrived, or ended too long ago";

impl Promises {
    pub(crate) fn admit(
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
    pub(super) fn aimed(self: &Arc<Self>, call: Held, number: u32, object: u32) -> Request {
        call.aim(Aim::Given(Turn {
            promises: self.clone(),
            number,
            object,
            is_open: true,
        }))
    }

    /// Lets a call that is first in its queue wait for room within the limit of waiting calls.
    /// Returns its request if the connection has ended or the server is shutting down.
    pub(super) fn stand(
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
    pub(super) fn set_timer(self: &Arc<Self>, due: Option<Instant>) {
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
