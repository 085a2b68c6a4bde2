//! Guards of pipelined calls: the promise of a result, and the turn of a held call.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use jstream_active::{Request, is_given_back};

use crate::frame::{CallTrailer, Code, Metadata};
use crate::session::connection::Connection;
use crate::session::pipelining::promises::{Held, Promises};
use crate::session::refusal::fail;
use crate::session::waiting::IsHeld;
use crate::support::{RareBox, lock};

/// Error text for a call that is not started.
pub(super) const NOT_GIVEN: &str = "the call that should have returned the object failed, or returned no object of this server: \
     wait for that call to see why";

/// State that is attached to the request of a call that names another one, that others may name, or
/// that has metadata.
pub(crate) struct Named {
    pub(crate) deadline: Option<Instant>,
    /// Present if other calls may name the result.
    pub(crate) promise: Option<Promise>,
    pub(crate) aim: Aim,
    /// Present if results of other calls are among the arguments.
    pub(crate) arguments: Option<Box<PromisedArguments>>,
    /// Entry among the waiting calls, if the call was held.
    pub(crate) place: Option<IsHeld>,
    pub(crate) metadata: Metadata,
    /// Length in bytes of the trailer and the metadata behind the arguments.
    pub(crate) tail: usize,
    /// True if the call was admitted before, so that it has counted for the rate of its caller.
    pub(crate) has_paid: bool,
}

impl Named {
    /// Creates the state of a call that fails.
    pub(super) fn refused(deadline: Option<Instant>, code: Code, why: &'static str) -> Self {
        Self {
            deadline,
            promise: None,
            aim: Aim::Refused(code, why),
            arguments: None,
            place: None,
            metadata: Metadata::default(),
            tail: 0,
            has_paid: false,
        }
    }

    /// Returns true if the caller may repeat the call after it was returned: if the call neither
    /// names others nor is named by them.
    pub(crate) fn may_be_returned(&self) -> bool {
        self.promise.is_none() && self.arguments.is_none() && matches!(self.aim, Aim::Object(_))
    }

    /// Returns the number of the call whose result is the next argument to wait for.
    pub(super) fn waits_for(&self) -> Option<u32> {
        let arguments = self.arguments.as_ref()?;
        arguments.calls.get(arguments.objects.len()).copied()
    }

    /// Returns true if the object is known and arguments are missing.
    pub(crate) fn lacks_arguments(&self) -> bool {
        matches!(self.aim, Aim::Object(_) | Aim::Given(_)) && self.waits_for().is_some()
    }

    /// Takes the argument for which the call has its turn. The turn passes to the returned call.
    pub(super) fn take_argument(&mut self) -> Option<Request> {
        let turn = self.arguments.as_mut()?.turn.take()?;
        self.add_argument(turn.object);
        turn.next()
    }

    /// Records the object that is the next argument.
    pub(super) fn add_argument(&mut self, object: u32) {
        if let Some(arguments) = &mut self.arguments {
            arguments.objects.push(object);
        }
    }
}

/// Results of other calls that are arguments of a call.
pub(crate) struct PromisedArguments {
    /// Numbers of these calls.
    calls: Vec<u32>,
    /// Numbers of the objects that the first of these calls have returned.
    objects: Vec<u32>,
    /// Turn of the call in the queue of the next of these calls.
    turn: Option<Turn>,
}

impl PromisedArguments {
    pub(super) fn from_calls(calls: Vec<u32>) -> Option<Box<Self>> {
        let objects = Vec::with_capacity(calls.len());
        let arguments = Self {
            calls,
            objects,
            turn: None,
        };
        (!arguments.calls.is_empty()).then(|| Box::new(arguments))
    }

    /// Returns the numbers of the objects that these calls have returned.
    pub(crate) fn into_objects(arguments: Option<Box<Self>>) -> RareBox<Vec<u32>> {
        arguments
            .map(|arguments| Box::new(arguments.objects))
            .into()
    }
}

/// Target of such a call.
pub(crate) enum Aim {
    Object(u32),
    /// The object that another call will return. The call is held in the queue of that call.
    Held,
    /// The object that another call has returned.
    Given(Turn),
    /// None: the call fails.
    Refused(Code, &'static str),
    /// None: the call fails because a limit is reached.
    Full,
}

impl Held {
    /// Returns the request of a call that waits for no other one.
    pub(super) fn ready(self) -> Request {
        let mut request = self.request;
        if let Some(mut named) = request.take_kept::<Named>() {
            named.place = self.place;
            request.keep(named);
        }
        request
    }

    /// Sets the target of the call and returns its request, ready to be handled. If the target is
    /// known, the object is that of the argument for which the call was held.
    pub(super) fn aim(self, aim: Aim) -> Request {
        let mut request = self.request;
        if let Some(mut named) = request.take_kept::<Named>() {
            let lacks_arguments = named.lacks_arguments();
            match (aim, &mut named.arguments) {
                // The object is known, so this turn is that of an argument. The turn for the object
                // stays in `aim`, which keeps later calls of the object behind this one.
                (Aim::Given(turn), Some(arguments)) if lacks_arguments => {
                    arguments.turn = Some(turn);
                }
                (aim, _) => named.aim = aim,
            }
            named.place = self.place;
            request.keep(named);
        }
        request
    }
}

/// Fails calls and, iteratively, the calls that name them.
pub(super) fn fail_all(calls: Vec<Held>, code: Code, why: &str) {
    let mut failing: VecDeque<_> = calls
        .into_iter()
        .map(|call| (call.request, code, why))
        .collect();
    // Iterative, because the peer chooses the length of a chain, and each level of a recursion
    // would take stack.
    while let Some((mut request, code, why)) = failing.pop_front() {
        let named = request.take_kept::<Named>();
        if let Some(mut promise) = named.and_then(|named| named.promise) {
            // Before the answer of this call: its drop would otherwise fail the dependent calls
            // recursively.
            let next = promise.give_none().into_iter();
            failing.extend(next.map(|call| (call.request, Code::NotGiven, NOT_GIVEN)));
        }
        fail(request, code, why);
    }
}

/// Guard of a call whose result other calls may name. If it is dropped, those calls fail. If its
/// call is returned as busy, they wait for the retry.
pub(crate) struct Promise {
    pub(super) promises: Arc<Promises>,
    pub(super) made: CallTrailer,
    pub(super) is_open: bool,
}

impl Promise {
    /// Records the object of this side that the call has returned. Held calls that name it start,
    /// one after the other.
    pub(crate) fn keep(mut self, object: u32, to: &Connection) {
        let node = to.references().object(object);
        // The held calls name methods by their indices in the interface that the peer has stated.
        // In another interface, these are other methods. The drop of the promise fails the calls.
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

    /// Returns true if held calls name this call.
    pub(crate) fn is_named(&self) -> bool {
        lock(&self.promises.queues).is_named(self.made.number)
    }

    /// Records that the call is returned as busy and may be retried.
    pub(crate) fn forget(mut self) {
        self.go_back();
    }

    /// Records that the call has returned no object. Returns the held calls that name it.
    pub(super) fn give_none(&mut self) -> Vec<Held> {
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
        // The request is being returned as busy, and this value is dropped with it. The caller may
        // repeat the call, so those that name it wait.
        if is_given_back() {
            return self.go_back();
        }
        fail_all(self.give_none(), Code::NotGiven, NOT_GIVEN);
    }
}

/// Guard of the held call that may start now. Dropping it passes the turn to the next held call.
pub(crate) struct Turn {
    pub(super) promises: Arc<Promises>,
    pub(super) number: u32,
    pub(crate) object: u32,
    pub(super) is_open: bool,
}

impl Turn {
    /// Passes the turn. Returns the next call, which the caller handles now.
    pub(crate) fn next(mut self) -> Option<Request> {
        self.pass()
    }

    /// Lets the call wait for room within the limit of waiting calls; the next call starts after
    /// it. Returns the request if the connection has ended.
    pub(crate) fn wait_for_room(
        mut self,
        request: Request,
        deadline: Option<Instant>,
    ) -> Option<Request> {
        // The turn stays with the call in the queue. Passing it here would start the calls behind
        // it first.
        self.is_open = false;
        self.promises.wait_for_room(self.number, request, deadline)
    }

    fn pass(&mut self) -> Option<Request> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let next = lock(&self.promises.queues).next(self.number);
        if next.is_none() {
            // The room that this queue did not need may help a stalled one.
            self.promises.resume_stalled();
        }
        Some(self.promises.aimed(next?, self.number, self.object))
    }
}

/// Passes the turn when the thread starts other work or blocks.
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
