//! What becomes of a call when it arrives.

use std::time::Instant;

use jstream_transport::active::{Request, until_waiting};

use super::incoming::{Answer, Incoming, refuse};
use crate::clock::Clock;
use crate::context::Context;
use crate::frame::{Code, Word};
use crate::intercept::{CallInfo, Denied, Side};
use crate::promise::{Aim, Made, Named, Promise, Turn};
use crate::reflection::REFLECTION;
use crate::session::{RESULTS, Session, fetched};

/// How many of the calls that wait for the same object a thread begins before it receives again.
const MOST_IN_A_ROW: usize = 16;

/// A call that has come and is not begun.
struct Arrived {
    request: Request,
    object: u32,
    method: u16,
    deadline: Option<Instant>,
    /// Others name its result.
    promise: Option<Promise>,
    /// It need not wait for its caller to read.
    is_read: bool,
    /// It has found a place among those that wait.
    has_place: bool,
}

/// A call of the other side has come.
pub(crate) fn called(request: Request) {
    if request.has_kept() {
        return begin_in_a_row(request);
    }
    let word = Word::of(request.word());
    if word.object == RESULTS {
        return fetched(request);
    }
    let clock = clock(&request);
    let now = clock.begin(word.time);
    // It may have waited here for its turn.
    let waited = clock.went_in(request.waited());
    let deadline = word
        .time
        .and_then(|time| now.checked_add(time)?.checked_sub(waited));
    if deadline.is_some_and(|deadline| deadline <= now) {
        return fail(request, Code::TooLate, "");
    }
    begin(Arrived {
        request,
        object: word.object,
        method: word.method,
        deadline,
        promise: None,
        is_read: false,
        has_place: false,
    });
}

/// Begins a call that names another one, or that others may name, and those that have waited for it to begin.
fn begin_in_a_row(request: Request) {
    let mut next = Some(request);
    for _ in 0..MOST_IN_A_ROW {
        let Some(request) = next else { return };
        next = begin_named(request);
    }
    if let Some(next) = next {
        next.run_again();
    }
}

/// What the deadline of a call goes by.
fn clock(request: &Request) -> &Clock {
    let session = request.attached::<Session>();
    session.map_or(&Clock::SYSTEM, |session| &session.terms.clock)
}

/// Begins such a call. The next one, whose turn it is then.
fn begin_named(mut request: Request) -> Option<Request> {
    let session = request.attached::<Session>()?;
    let is_ending = session.is_ending();
    if !is_ending && request.is_unread(session.terms.max_backlog) {
        let most = session.terms.max_backlog;
        request.put_off(most);
        return None;
    }
    let named: Box<Named> = request.take_kept()?;
    let Named {
        deadline,
        promise,
        aim,
        place,
    } = *named;
    let (object, turn) = match aim {
        Aim::Object(number) => (number, None),
        Aim::Given(turn) => (turn.object, Some(turn)),
        Aim::Full => {
            refuse_full(request, is_ending);
            return None;
        }
        Aim::Refused(code, why) => {
            fail(request, code, why);
            return None;
        }
    };
    let (may_wait, is_full) = room(&request);
    if turn.is_some() && may_wait {
        // What it needs may be there for one more.
        go_on(&request);
    }
    let is_late = deadline.is_some_and(|deadline| deadline <= clock(&request).now());
    if is_late || (turn.is_some() && request.mark().is_cancelled()) {
        fail(request, Code::TooLate, "");
        return turn.and_then(Turn::next);
    }
    let is_named = promise.as_ref().is_some_and(Promise::is_named);
    let turn = match turn {
        Some(turn) if !may_wait && !is_named && !is_ending => {
            if is_full {
                stand(request, turn, deadline, promise);
                return None;
            }
            // Nobody would say when others have less that waits.
            refuse_full(request, false);
            return turn.next();
        }
        turn => turn,
    };
    // One that has had its turn does not go back: it would come again behind others.
    let has_place = turn.is_some() || place.is_some();
    drop(place);
    let method = Word::of(request.word()).method;
    let arrived = Arrived {
        request,
        object,
        method,
        deadline,
        promise,
        is_read: true,
        has_place,
    };
    let Some(turn) = turn else {
        begin(arrived);
        return None;
    };
    // What it waits for may need those behind it.
    let (turn, ()) = until_waiting(turn, || begin(arrived));
    turn.and_then(Turn::next)
}

/// Refuses a call that names another one, and has found no room. It does not go back: one that came again would come
/// behind others.
fn refuse_full(request: Request, is_ending: bool) {
    if let Some(session) = request.attached::<Session>() {
        session.load().refuse();
    }
    let why = if is_ending {
        Code::Ending
    } else {
        Code::Streams
    };
    fail(request, why, "");
}

/// Whether the method of a call that has its turn may wait; and if not, whether those of its own connection are in the way.
fn room(request: &Request) -> (bool, bool) {
    let session = request.attached::<Session>();
    session.map_or((false, false), |session| {
        (session.may_wait_in_turn(), session.is_full())
    })
}

fn go_on(request: &Request) {
    if let Some(session) = request.attached::<Session>() {
        session.promises.go_on();
    }
}

/// Has a call that has the turn of its row wait for a place among those that wait.
fn stand(mut request: Request, turn: Turn, deadline: Option<Instant>, promise: Option<Promise>) {
    let mark = request.mark();
    request.keep(Box::new(Named {
        deadline,
        promise,
        aim: Aim::Object(turn.object),
        place: None,
    }));
    if let Some(request) = turn.stand(request, deadline) {
        return refuse_full(request, true);
    }
    let session = mark.attached::<Session>();
    if let Some(session) = session.filter(|session| !session.is_full()) {
        // Others have ended meanwhile, and did not see that it stands.
        session.promises.go_on();
    }
}

/// Gives a call back for now. It may come again at once.
fn nack(request: Request, promise: Option<Promise>) {
    if let Some(promise) = promise {
        promise.forget();
    }
    if let Some(session) = request.attached::<Session>() {
        session.load().refuse();
    }
    request.nack();
}

fn begin(arrived: Arrived) {
    let Arrived {
        request,
        object,
        method: place,
        deadline,
        promise,
        is_read,
        has_place,
    } = arrived;
    let Some(session) = request.attached::<Session>() else {
        return nack(request, promise);
    };
    let is_ending = session.is_ending() && object != REFLECTION;
    if !is_ending && !is_read && request.is_unread(session.terms.max_backlog) {
        let most = session.terms.max_backlog;
        return request.put_off(most);
    }
    let Some((interface, callee)) = session.object(object) else {
        return fail(request, Code::UnknownObject, "");
    };
    let method = usize::from(place);
    if method >= interface.len() {
        let known = format!("it has {}", interface.description());
        return fail(request, Code::UnknownMethod, &known);
    }
    if let Some(tape) = &session.tape {
        tape.called(object, place, interface);
    }
    if is_ending {
        session.load().refuse();
        return fail(request, Code::Ending, "");
    }
    // One that others wait for frees more than it takes.
    let is_named = || promise.as_ref().is_some_and(Promise::is_named);
    if !has_place && !session.may_wait() && !is_named() {
        return nack(request, promise);
    }
    let watched = session.terms.interceptors.before(|| CallInfo {
        side: Side::Callee,
        object: object.into(),
        interface: interface.name(),
        method: interface.method(method).name(),
        deadline,
        peer: request.peer().endpoint().peer().clone(),
        bytes: request.bytes().len() as u64,
    });
    let watched = match watched {
        Ok(watched) => watched,
        Err(Denied(reason)) => return fail(request, Code::Denied, &reason),
    };
    let context = Context {
        deadline,
        call: Some(request.mark()),
        watched: watched.clone(),
    };
    let (mut payload, replier) = request.into_parts();
    if promise.is_some() {
        let arguments = Made::of(payload.as_bytes()).map_or(0, |(_, length)| length);
        payload.truncate(arguments);
    }
    let call = Incoming {
        payload,
        answer: Answer::new(replier, watched, promise),
    };
    callee.call(method, call, context);
}

pub(crate) fn fail(request: Request, code: Code, why: &str) {
    let (_, replier) = request.into_parts();
    refuse(replier, code, why);
}
