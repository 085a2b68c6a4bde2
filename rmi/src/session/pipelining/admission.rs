//! Admission of pipelined calls: a call is held until the call that it names has ended.
//!
//! Decisions 080 and 087 have the reasons.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Instant;

use jstream_active::Request;
use smallvec::SmallVec;

use crate::frame::{
    CallHeader, CallTrailer, Code, Metadata, PASSES_PROMISED, PROMISE_NUMBERS, PROMISED, PROMISES,
    Trailers, is_of_every_server,
};
use crate::session::clock::Alarm;
use crate::session::pipelining::promises::{Held, Promises};
use crate::session::pipelining::queues::{Needs, NotHeld, Placed};
use crate::session::pipelining::turn::{
    Aim, NOT_GIVEN, Named, Promise, PromisedArguments, Turn, fail_all,
};
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
        // The deadline counts from here. The call may be held before a method asks for it, so it
        // can't be computed from the tick of the connection then.
        let now = self.clock.now();
        let deadline = word.duration().and_then(|time| now.checked_add(time));
        let (metadata, tail) = match word.has_metadata {
            0 => (Metadata::default(), 0),
            _ => match Metadata::at_end(request.bytes()) {
                Ok(read) => read,
                Err(why) => {
                    request.keep(Box::new(Named::refused(deadline, Code::Arguments, why)));
                    return Some(request);
                }
            },
        };
        // The three bits above the number of an object have no meaning in these numbers.
        let bits = match is_of_every_server(word.object) {
            true => 0,
            false => word.object & (PROMISES | PROMISED | PASSES_PROMISED),
        };
        let number = word.object & !bits;
        let named = (bits & PROMISED != 0).then_some(number);
        let payload = request.bytes();
        let length = payload.len().saturating_sub(tail);
        let trailers = Trailers::decode(bits, payload.get(..length).unwrap_or_default());
        let promised = trailers.promised.iter().copied();
        let names: SmallVec<[u32; 4]> = named.into_iter().chain(promised).collect();
        let mut kept = Named {
            deadline,
            promise: None,
            // Replaced by the aim with which the call leaves its queue.
            aim: named.map_or(Aim::Object(number), |_| Aim::Held),
            arguments: PromisedArguments::from_calls(trailers.promised),
            place: None,
            metadata,
            tail: payload.len().saturating_sub(trailers.length),
            has_paid: false,
        };
        let mut queues = lock(&self.queues);
        let mut depths = names.iter().map(|number| queues.depth_behind(*number));
        // The longest chain counts. `None` means that one of them is too long.
        let depth = depths.try_fold(0, |most: usize, depth| Some(most.max(depth?)));
        if named.is_some_and(|number| number >= PROMISE_NUMBERS) {
            kept.aim = Aim::Refused(Code::UnknownObject, "");
        } else {
            if bits & PROMISES != 0 {
                let made = trailers.made;
                // A call that waits for its own result would never start.
                let made = made.filter(|made| !names.contains(&made.number));
                // Opened before the call itself is held: calls that name this one may arrive next,
                // and must find that it has arrived.
                let made = made.filter(|made| queues.open(made.number, depth.unwrap_or(0)));
                // The promise is made for open numbers only. Its drop tells the calls that wait for
                // this number, so none is left behind if the call is refused below.
                kept.promise = made.map(|made| self.promise(made));
            }
            if bits & PROMISES != 0 && kept.promise.is_none() {
                kept.aim = Aim::Refused(
                    Code::Arguments,
                    "the number of the call is invalid or already in use",
                );
            } else if let Some(why) = trailers.wrong {
                kept.aim = Aim::Refused(Code::Arguments, why);
            } else if depth.is_none() {
                kept.aim = Aim::Refused(Code::NotGiven, "the chain of pipelined calls is too long");
            }
        }
        drop(queues);
        let is_refused = matches!(kept.aim, Aim::Refused(..));
        let kept = Box::new(kept);
        if names.is_empty() || is_refused {
            // The reason is kept until a thread serves the call. This thread still has the right to
            // receive, and sends no answers under it.
            request.keep(kept);
            return Some(request);
        }
        // Without a place, the call is held within the spare room, or refused if there is none.
        let place = may_wait.then(|| IsHeld::new(self.counts.clone()));
        self.hold(named, (request, kept, place), now, is_ending)
    }

    /// Takes the turn of a call for a result among its arguments. The call is then held until its
    /// next argument is known, or may start. Returns a call that may start or be taken further.
    pub(crate) fn take_argument(
        self: &Arc<Self>,
        request: Request,
        mut named: Box<Named>,
        may_wait: bool,
        is_ending: bool,
    ) -> Option<Request> {
        let behind = named.take_argument();
        let place = named.place.take();
        let place = place.or_else(|| may_wait.then(|| IsHeld::new(self.counts.clone())));
        let now = self.clock.now();
        match self.hold(None, (request, named, place), now, is_ending) {
            None => behind,
            placed => {
                if let Some(behind) = behind {
                    // The caller goes on with one call only.
                    behind.run_again();
                }
                placed
            }
        }
    }

    fn promise(self: &Arc<Self>, made: CallTrailer) -> Promise {
        Promise {
            promises: self.clone(),
            made,
            is_open: true,
        }
    }

    /// Holds a call until its `target` has ended, or else the call that returns its next argument.
    /// Returns the call if it may start, if its turn has come, or if it fails.
    fn hold(
        self: &Arc<Self>,
        target: Option<u32>,
        (mut request, mut named, mut place): (Request, Box<Named>, Option<IsHeld>),
        now: Instant,
        is_ending: bool,
    ) -> Option<Request> {
        let (deadline, bytes) = (named.deadline, request.bytes().len() as u64);
        // Ends, because each turn of the loop adds an argument, and a call has at most 16.
        loop {
            let next = target.or_else(|| named.waits_for());
            request.keep(named);
            let call = Held { request, place };
            let Some(number) = next else {
                return Some(call.ready());
            };
            if is_ending {
                return Some(call.aim(Aim::Full));
            }
            let needs = match target {
                Some(_) => Needs::Turn,
                None => Needs::Object,
            };
            let has_place = call.place.is_some();
            let mut queues = lock(&self.queues);
            // The request is attached to its state before it is in the queue, since another thread
            // may start it from there at once.
            let placed = queues.hold((number, needs), (call, bytes), deadline, now, has_place);
            // Read under the same lock, while the call is the last one in its queue.
            let due = queues.due_of(number);
            drop(queues);
            match placed {
                Placed::Held => {
                    self.set_timer(due);
                    return None;
                }
                Placed::Begins(call, object) => return Some(self.aimed(call, number, object)),
                Placed::Known(call, object) => {
                    (request, place) = (call.request, call.place);
                    named = request.take_kept()?;
                    named.add_argument(object);
                }
                Placed::Refused(call, NotHeld::NotGiven) => {
                    return Some(call.aim(Aim::Refused(Code::NotGiven, NOT_GIVEN)));
                }
                Placed::Refused(call, _) => return Some(call.aim(Aim::Full)),
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
    pub(super) fn wait_for_room(
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
        // The flag is stored under the lock, after the queue has the call. See `CallCounts::resume`
        // for the other side.
        let back = queues.wait_for_room(number, (call, bytes), deadline);
        self.is_stuck.store(queues.is_stuck(), Ordering::SeqCst);
        drop(queues);
        self.set_timer(deadline);
        back.map(|call| call.request)
    }

    /// Called when there may be room: resumes one of the queues that wait for it.
    pub(crate) fn resume_stalled(self: &Arc<Self>) {
        // The flag saves the lock for connections without stalled calls, which are almost all.
        if self.is_stuck.load(Ordering::SeqCst) {
            self.resume_one();
        }
    }

    fn resume_one(self: &Arc<Self>) {
        let mut queues = lock(&self.queues);
        let first = queues.resume_stalled();
        self.is_stuck.store(queues.is_stuck(), Ordering::SeqCst);
        drop(queues);
        if let Some((call, number, object)) = first {
            // For another thread: the caller may be a method that ends, deep in the stack of its
            // own call.
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
        // Before the search: a call that is held during the search sets the alarm again.
        *lock(&self.due) = None;
        let mut queues = lock(&self.queues);
        let expired = queues.expire(self.clock.now());
        let due = queues.due();
        drop(queues);
        self.set_timer(due);
        // Failing a call sends an answer and may start others, so it is done without the lock.
        for (call, why) in expired {
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
