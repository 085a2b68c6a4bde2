//! Dispatch of incoming calls to their objects.
//!
//! Decision 075 has the reasons.

use std::sync::Arc;
use std::time::Duration;

use jstream_active::{Request, until_waiting};

use crate::call::incoming::admission::{self, AdmittedCall};
use crate::call::incoming::surrounded_call::{self, Start, StartingCall};
use crate::frame::{CallHeader, Code, Deadline, Metadata, REFLECTION, RESULTS};
use crate::interface::Interface;
use crate::session::{
    Aim, Answer, Asked, CallInfo, CallParts, Callee, Clock, Denied, Incoming, Named, PeerInfo,
    Promise, PromisedArguments, RunPermit, Session, Side, Turn, Watched, fail, fetched,
};
use crate::support::RareBox;

/// Maximum number of calls held for the same object that a thread starts before it receives again.
const MOST_IN_A_ROW: usize = 16;

/// A call that has arrived and was not started.
struct Arrived {
    object: u32,
    method: u16,
    deadline: Deadline,
    /// Present if other calls may name the result.
    promise: Option<Promise>,
    /// Present if results of other calls are among the arguments.
    promised: RareBox<Vec<u32>>,
    metadata: Metadata,
    /// Length in bytes of what follows the arguments.
    tail: usize,
    /// True if the call starts even if the caller has unread answers.
    is_read: bool,
    /// True if the call already counts as a waiting call.
    has_place: bool,
    /// True if the call has asked for admission.
    has_asked: bool,
    /// Present if the call has been admitted by a server that limits its calls.
    permit: RareBox<RunPermit>,
}

/// State with which a call starts.
struct Admission {
    callee: Arc<dyn Callee>,
    watched: Option<Arc<Watched>>,
    /// True if the deadline is not a time of the system clock.
    is_paused: bool,
    /// Present if the call has asked for admission now.
    permit: RareBox<RunPermit>,
    /// The interface of the object.
    interface: &'static Interface,
}

/// The reason why a call is not started now.
enum Rejection {
    /// The caller has more than this many bytes of answers to read, so the call is deferred.
    Unread(u64),
    /// The limit of waiting calls is reached.
    Full,
    /// The server is shutting down.
    Ending,
    /// As many calls run as may, so the call is queued.
    Waits,
    /// The server is overloaded, or the caller makes too many calls. The call may be repeated after
    /// this time.
    Busy(Duration),
    /// Layers surround the call, and start it.
    Layers(Box<Admission>),
    /// The call fails with this code and text.
    Fails(Code, String),
}

/// Handles a call of the other side. The request is taken out of `lent` when its method starts.
pub(crate) fn called(lent: &mut Option<Request>) {
    let Some(request) = lent.as_ref() else { return };
    // Such calls name others, have metadata, or were queued.
    if request.has_kept() {
        return taken(lent, begin_in_a_row);
    }
    let CallHeader {
        object,
        method,
        time,
        ..
    } = CallHeader::from_word(request.word());
    if object == RESULTS {
        // Request and state are taken out by a function of their own, so that the common path does
        // not reserve stack for them.
        return taken(lent, fetched);
    }
    let Some(session) = request.attached::<Session>() else {
        // The session is attached a moment later, and the caller repeats the call.
        return taken(lent, |request| nack(request, None));
    };
    let mut call = Arrived {
        object,
        method,
        deadline: Deadline::Never,
        promise: None,
        promised: RareBox::none(),
        metadata: Metadata::default(),
        tail: 0,
        is_read: false,
        has_place: false,
        has_asked: false,
        permit: RareBox::none(),
    };
    if time != 0 {
        let clock = &session.terms.clock;
        call.deadline = match clock.deadline(time, request.ticked()) {
            Some(deadline) => deadline,
            None => match deadline_of(clock, request) {
                Some(deadline) => deadline,
                // Not started: its caller has given up.
                None => return taken(lent, |request| fail(request, Code::TooLate, "")),
            },
        };
    }
    let admission = admit(session, request, &call);
    begin(lent, call, admission);
}

/// Takes the request out of `lent` and passes it to `then`.
#[inline(never)]
fn taken(lent: &mut Option<Request>, then: impl FnOnce(Request)) {
    if let Some(request) = lent.take() {
        then(request);
    }
}

/// Returns the deadline of a call that may have been queued at this side, or `None` if it has
/// passed.
#[inline(never)]
fn deadline_of(clock: &Clock, request: &Request) -> Option<Deadline> {
    let time = CallHeader::from_word(request.word()).duration()?;
    let waited = clock.went_in(request.waited());
    let now = clock.begin(Some(time));
    let then = now.checked_add(time);
    let deadline = then.and_then(|then| then.checked_sub(waited));
    // A call may have waited in this process behind a method that ran for long.
    let is_late = deadline.is_some_and(|deadline| deadline <= now);
    (!is_late).then(|| deadline.into())
}

/// Starts a call that names another one, that others may name, or that has metadata, and then the
/// calls that were held behind it.
#[inline(never)]
fn begin_in_a_row(mut request: Request) {
    if let Some(starting) = request.take_kept::<StartingCall>() {
        return starting.start(request);
    }
    let mut next = Some(request);
    // After so many calls of one object, the thread receives again. The rest is run by any thread
    // that serves.
    for _ in 0..MOST_IN_A_ROW {
        let Some(request) = next else { return };
        next = begin_named(request);
    }
    if let Some(next) = next {
        next.run_again();
    }
}

/// Returns the clock of a call's deadline.
fn clock(request: &Request) -> &Clock {
    let session = request.attached::<Session>();
    session.map_or(&Clock::SYSTEM, |session| &session.terms.clock)
}

/// Starts such a call. Returns the next held call if it can start now.
fn begin_named(mut request: Request) -> Option<Request> {
    let session = request.attached::<Session>()?;
    let is_ending = session.is_ending();
    // A server that is ending does not wait for the caller to read.
    if !is_ending && request.is_unread(session.terms.max_backlog) {
        let most = session.terms.max_backlog;
        // A caller that does not read its answers keeps no others from running.
        AdmittedCall::give_permit_back(&mut request);
        request.put_off(most);
        return None;
    }
    let call = AdmittedCall::take(&mut request)?;
    if call.named.lacks_arguments() {
        let session = request.attached::<Session>()?;
        let (promises, may_wait) = (session.promises.clone(), session.may_wait());
        return promises.take_argument(request, call.named, may_wait, is_ending);
    }
    let (request, call) = match is_ending {
        // A call that will be refused as ending needs no permit.
        true => (request, call),
        false => admission::admit(request, call)?,
    };
    let AdmittedCall {
        named,
        permit,
        has_waited,
    } = call;
    let Named {
        deadline,
        promise,
        aim,
        arguments,
        place,
        metadata,
        tail,
        has_paid: _,
    } = *named;
    let (object, held_turn) = match aim {
        Aim::Object(number) => (number, None),
        Aim::Given(held_turn) => (held_turn.object, Some(held_turn)),
        // A held call is not handled.
        Aim::Held | Aim::Full => {
            refuse_full(request, is_ending);
            return None;
        }
        Aim::Refused(code, reason) => {
            fail(request, code, reason);
            return None;
        }
    };
    let (may_wait, is_full) = room(&request);
    if held_turn.is_some() && may_wait {
        // There may be room for another queue, too.
        resume_stalled(&request);
    }
    let is_late = deadline.is_some_and(|deadline| deadline <= clock(&request).now());
    let was_held = has_waited || held_turn.is_some() || arguments.is_some();
    // Only a call that has waited may have been cancelled meanwhile. For others, the look at the
    // connection would cost more than it saves.
    if is_late || (was_held && request.mark().is_cancelled()) {
        fail(request, Code::TooLate, "");
        // Outside of the guard's drop, so that this thread goes on with the next call instead of
        // queueing it.
        return held_turn.and_then(Turn::next);
    }
    let is_named = promise.as_ref().is_some_and(Promise::is_named);
    let held_turn = match held_turn {
        // A call on which others wait starts even without room, since its end makes room for them.
        Some(held_turn) if !may_wait && !is_named && !is_ending => {
            if is_full {
                let named = Named {
                    deadline,
                    promise,
                    aim: Aim::Held,
                    arguments,
                    // The place of a held call was for its wait. It now waits without one, within
                    // the spare room of the connection.
                    place: None,
                    metadata,
                    tail,
                    has_paid: true,
                };
                wait_for_room(request, held_turn, named);
                return None;
            }
            // The limit for all connections is reached. No event tells this connection when other
            // connections have fewer waiting calls.
            refuse_full(request, false);
            return held_turn.next();
        }
        held_turn => held_turn,
    };
    // A call that has had its turn is not returned to the caller, because its retry would arrive
    // behind later calls.
    let has_place = held_turn.is_some() || place.is_some();
    // The wait in the queue is over. If the method is suspended, it counts itself.
    drop(place);
    let method = CallHeader::from_word(request.word()).method;
    let call = Arrived {
        object,
        method,
        deadline: deadline.into(),
        promise,
        promised: PromisedArguments::into_objects(arguments),
        metadata,
        tail,
        // The unread answers were looked at when this call was taken up.
        is_read: true,
        has_place,
        has_asked: true,
        permit,
    };
    let Some(held_turn) = held_turn else {
        begin_now(request, call);
        return None;
    };
    // If the method blocks or is suspended, the turn passes to the next call, on which the method
    // may depend.
    let (held_turn, ()) = until_waiting(held_turn, || begin_now(request, call));
    held_turn.and_then(Turn::next)
}

/// Starts a call whose object is known.
fn begin_now(request: Request, call: Arrived) {
    let Some(session) = request.attached::<Session>() else {
        return nack(request, call.promise);
    };
    let admission = admit(session, &request, &call);
    begin(&mut Some(request), call, admission);
}

/// Refuses a pipelined call for which there is no room. The call is not returned to the caller,
/// because its retry would arrive behind later calls.
fn refuse_full(request: Request, is_ending: bool) {
    if let Some(session) = request.attached::<Session>() {
        session.load().refuse();
    }
    let reason = if is_ending {
        Code::Ending
    } else {
        Code::Streams
    };
    fail(request, reason, "");
}

/// Returns whether the method of a call that has its turn may be suspended, and whether this
/// connection is at its limit of suspended methods.
fn room(request: &Request) -> (bool, bool) {
    let session = request.attached::<Session>();
    session.map_or((false, false), |session| {
        (session.may_wait_in_turn(), session.is_full())
    })
}

fn resume_stalled(request: &Request) {
    if let Some(session) = request.attached::<Session>() {
        session.promises.resume_stalled();
    }
}

/// Lets a call that is first in its queue wait for room within the limit of waiting calls.
fn wait_for_room(mut request: Request, held_turn: Turn, named: Named) {
    // The mark outlives the request, which another thread may take out of the queue at once.
    let (mark, deadline) = (request.mark(), named.deadline);
    request.keep(Box::new(named));
    if let Some(request) = held_turn.wait_for_room(request, deadline) {
        return refuse_full(request, true);
    }
    let session = mark.attached::<Session>();
    if let Some(session) = session.filter(|session| !session.is_full()) {
        // Other methods have ended meanwhile, before this call was visible as stalled.
        session.promises.resume_stalled();
    }
}

/// Returns a call to the caller as busy. The caller may retry it at once.
fn nack(request: Request, promise: Option<Promise>) {
    if let Some(promise) = promise {
        // Before the request is returned: calls that name this one must wait for its repetition
        // instead of failing.
        promise.forget();
    }
    if let Some(session) = request.attached::<Session>() {
        session.load().refuse();
    }
    request.nack();
}

/// Queues a call that names no others until it may start.
#[cold]
fn queue(request: Request, call: Arrived) {
    let named = Named {
        deadline: call.deadline.moment(),
        promise: call.promise,
        aim: Aim::Object(call.object),
        arguments: None,
        place: None,
        metadata: call.metadata,
        tail: call.tail,
        has_paid: false,
    };
    admission::queue(request, Box::new(named));
}

/// Checks whether a call may start. Inlined, because a returned `Admission` would be copied.
#[inline(always)]
fn admit(session: &Session, request: &Request, call: &Arrived) -> Result<Admission, Rejection> {
    // The health of a server is asked for while it is shutting down.
    let is_ending = session.is_ending() && call.object != REFLECTION;
    let most = session.terms.max_backlog;
    // Unread answers come first, so that a caller that does not read can't make the server do
    // anything for its calls.
    if !is_ending && !call.is_read && request.is_unread(most) {
        return Err(Rejection::Unread(most));
    }
    let Some((interface, callee)) = session.object(call.object) else {
        return Err(Rejection::Fails(Code::UnknownObject, String::new()));
    };
    let method = usize::from(call.method);
    // The index was checked by the interface of the other side alone. A peer may send any.
    if method >= interface.len() {
        return Err(unknown_method(interface));
    }
    // The capture has the call already. Its description follows, even if the call is refused below.
    if let Some(tape) = &session.tape {
        tape.called(call.object, call.method, interface);
    }
    if is_ending {
        session.load().refuse();
        return Err(Rejection::Ending);
    }
    // A call on which others depend is started regardless: it frees more room than it takes.
    let is_named = || call.promise.as_ref().is_some_and(Promise::is_named);
    // Any method may turn out to be async. So the room for its suspension is checked before it
    // starts, when the call can still be returned.
    if !call.has_place && !session.may_wait() && !is_named() {
        return Err(Rejection::Full);
    }
    let (mut watched, mut permit) = (None, RareBox::none());
    if !session.is_plain {
        // Calls with state have asked before they came here.
        if !call.has_asked {
            permit = ask(session, call.object)?;
        }
        // Interceptors are last: each call that they see begins, unless one of them denies it.
        watched = seen(session, request, call, interface)?;
    }
    let admission = Admission {
        callee,
        watched,
        is_paused: !session.is_plain && session.terms.clock.is_paused(),
        permit,
        interface,
    };
    // As a rejection, so that a call without layers has no further case.
    if !session.is_plain && session.terms.interceptors.layers().is_some() {
        return Err(Rejection::Layers(Box::new(admission)));
    }
    Ok(admission)
}

/// Asks for the admission of a call that names no others.
#[inline(never)]
fn ask(session: &Session, object: u32) -> Result<RareBox<RunPermit>, Rejection> {
    match admission::ask(session, object, false) {
        None => Ok(RareBox::none()),
        Some(Asked::Runs(permit)) => Ok(Some(permit).into()),
        Some(Asked::Waits) => Err(Rejection::Waits),
        Some(Asked::Refused(retry_after)) => Err(Rejection::Busy(retry_after)),
    }
}

/// Reports a call to the interceptors.
#[inline(never)]
fn seen(
    session: &Session,
    request: &Request,
    call: &Arrived,
    interface: &Interface,
) -> Result<Option<Arc<Watched>>, Rejection> {
    let interceptors = &session.terms.interceptors;
    let watched = interceptors.before(|| call_info(request, call, interface));
    watched.map_err(|Denied(reason)| Rejection::Fails(Code::Denied, reason))
}

fn call_info(request: &Request, call: &Arrived, interface: &Interface) -> CallInfo {
    CallInfo {
        side: Side::Callee,
        object: call.object.into(),
        interface: interface.name(),
        method: interface.method(call.method.into()).name(),
        deadline: call.deadline.moment(),
        peer: PeerInfo::from_peer(&request.peer()),
        bytes: request.bytes().len().saturating_sub(call.tail) as u64,
        metadata: call.metadata.clone(),
    }
}

/// Runs the layers of a call, which begin it or refuse it.
#[cold]
fn surround(request: Request, mut call: Arrived, mut admission: Admission) {
    let session = request.attached::<Session>();
    let layers = session.and_then(|session| session.terms.interceptors.layers().cloned());
    let Some(layers) = layers else {
        return nack(request, call.promise);
    };
    let interface = admission.interface;
    let info = call_info(&request, &call, interface);
    let parts = CallParts {
        side: info.side,
        interface: info.interface,
        method: info.method,
        is_idempotent: interface.method(call.method.into()).is_idempotent(),
        deadline: info.deadline,
        peer: Some(info.peer),
        bytes: Some(info.bytes),
        metadata: info.metadata,
    };
    let begin = Box::new(move |request: Request, start| match start {
        Start::Runs {
            metadata,
            observer,
            stop_switch,
        } => {
            call.metadata = metadata;
            let watched = admission.watched.take();
            let info = || call_info(&request, &call, interface);
            let watched = Watched::surrounded(watched, info, observer, stop_switch);
            admission.watched = Some(watched);
            run(request, call, admission);
        }
        Start::Refused(code, reason) => {
            if let Some(watched) = &admission.watched {
                watched.end(Err(code.outcome()), 0);
            }
            // The calls that depend on this one fail.
            drop(call);
            fail(request, code, &reason);
        }
    });
    surrounded_call::surround(request, (parts, layers), begin);
}

/// Starts a call, if it may start.
#[inline(always)]
fn begin(lent: &mut Option<Request>, call: Arrived, admission: Result<Admission, Rejection>) {
    let admission = match admission {
        Ok(admission) => admission,
        Err(Rejection::Waits) => return taken(lent, |request| queue(request, call)),
        Err(Rejection::Layers(admission)) => {
            return taken(lent, |request| surround(request, call, *admission));
        }
        Err(reason) => return taken(lent, |request| reject(request, call.promise, reason)),
    };
    let Some(request) = lent.take() else { return };
    run(request, call, admission);
}

/// Runs the method of a call that may start.
#[inline(always)]
fn run(request: Request, call: Arrived, admission: Admission) {
    let Admission {
        callee,
        watched,
        is_paused,
        mut permit,
        interface,
    } = admission;
    if permit.is_none() {
        permit = call.permit;
    }
    if let Some(permit) = permit.as_mut() {
        permit.begin((std::ptr::from_ref(interface).addr(), call.method));
    }
    let (mut payload, replier) = request.into_parts();
    // The arguments are read as a whole message, so the trailers and the metadata have to go.
    if call.tail > 0 {
        payload.truncate(payload.len().saturating_sub(call.tail));
    }
    let incoming = Incoming {
        payload,
        answer: Answer::new(
            replier,
            watched,
            call.promise,
            call.promised,
            call.metadata,
            is_paused,
            permit,
        ),
    };
    callee.call(call.method.into(), incoming, call.deadline);
}

fn unknown_method(interface: &Interface) -> Rejection {
    let known = format!("it has {}", interface.description());
    Rejection::Fails(Code::UnknownMethod, known)
}

/// Defers, returns or fails a call that does not start.
fn reject(request: Request, promise: Option<Promise>, reason: Rejection) {
    match reason {
        Rejection::Unread(most) => request.put_off(most),
        // As busy, so that the caller repeats it. A call that has its turn does not get here.
        Rejection::Full => nack(request, promise),
        // With the arguments, so that the caller can repeat the call at another server.
        Rejection::Ending => request.turn_away(),
        Rejection::Busy(retry_after) => admission::refuse(request, retry_after, true),
        Rejection::Fails(code, reason) => fail(request, code, &reason),
        Rejection::Waits | Rejection::Layers(_) => unreachable!("the call was queued or begun"),
    }
}
