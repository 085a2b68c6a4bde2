//! What becomes of a call when it arrives.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

use jstream_transport::active::Request;

use super::incoming::{Answer, Incoming, refuse};
use crate::context::Context;
use crate::frame::{self, Code, PROMISE_NUMBERS, PROMISED, PROMISES, Word};
use crate::intercept::{CallInfo, Denied, Side};
use crate::promise::{Arrived, LONGEST_CHAIN, Made, Named, next_ready};
use crate::reflection::REFLECTION;
use crate::session::{Session, Waits};

/// A call of the other side has come.
pub(crate) fn called(request: Request) {
    let word = Word::of(request.word());
    let now = frame::begin(word.time);
    // It may have waited here for its turn.
    let deadline = word
        .time
        .and_then(|time| now.checked_add(time)?.checked_sub(request.waited()));
    if deadline.is_some_and(|deadline| deadline <= now) {
        return fail(request, Code::TooLate, "");
    }
    let arrived = Arrived {
        request,
        object: word.object,
        method: word.method,
        deadline,
        promise: None,
        waits: None,
    };
    if word.object < PROMISED || word.object == REFLECTION {
        return begin(arrived);
    }
    let called = catch_unwind(AssertUnwindSafe(|| begin_promised(arrived)));
    begin_ready();
    if let Err(panic) = called {
        resume_unwind(panic);
    }
}

/// A call that names another one, or that others may name.
fn begin_promised(mut arrived: Arrived) {
    let Some(session) = arrived.request.attached::<Session>() else {
        return arrived.request.nack();
    };
    let (promises, may_wait) = (session.promises.clone(), session.may_wait());
    let number = arrived.object & !(PROMISES | PROMISED);
    let is_named = arrived.object & PROMISED != 0;
    if is_named && number >= PROMISE_NUMBERS {
        return arrived.fail(Code::UnknownObject, "");
    }
    let depth = match promises.named(number) {
        Named::Open(depth) if is_named => depth.saturating_add(1),
        Named::Unknown if is_named => return arrived.nack(),
        _ => 0,
    };
    if arrived.object & PROMISES != 0 {
        let made = Made::of(arrived.request.bytes());
        arrived.promise = made.and_then(|(made, _)| promises.open(made, depth));
        if arrived.promise.is_none() {
            return arrived.fail(
                Code::Arguments,
                "its number is none, or another call has it",
            );
        }
    }
    if depth > LONGEST_CHAIN {
        return arrived.fail(Code::NotGiven, "too many calls wait for each other");
    }
    if !is_named {
        arrived.object = number;
        return begin(arrived);
    }
    loop {
        match promises.named(number) {
            Named::Open(_) if may_wait => {}
            Named::Gave(object) => {
                arrived.object = object;
                return begin(arrived);
            }
            Named::GaveNone => return arrived.not_given(),
            Named::Open(_) | Named::Unknown => return arrived.nack(),
        }
        arrived.waits = Some(Waits::new(arrived.request.mark()));
        match promises.hold(number, arrived) {
            Some(back) => arrived = back,
            None => return,
        }
    }
}

/// Begins the calls that this thread has given their objects.
pub(crate) fn begin_ready() {
    while let Some(arrived) = next_ready() {
        // Its caller is told.
        drop(catch_unwind(AssertUnwindSafe(|| begin_held(arrived))));
    }
}

fn begin_held(mut arrived: Arrived) {
    arrived.waits = None;
    let now = Instant::now();
    let is_late = arrived.deadline.is_some_and(|deadline| deadline <= now);
    if is_late || arrived.request.mark().is_cancelled() {
        return arrived.fail(Code::TooLate, "");
    }
    begin(arrived);
}

fn begin(arrived: Arrived) {
    let Arrived {
        request,
        object,
        method: place,
        deadline,
        promise,
        ..
    } = arrived;
    let Some(session) = request.attached::<Session>() else {
        return request.nack();
    };
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
    if session.is_ending() && object != REFLECTION {
        session.load().refuse();
        return fail(request, Code::Ending, "");
    }
    if request.backlog() > session.terms.max_backlog {
        session.load().refuse();
        return fail(request, Code::Unread, "");
    }
    if !session.may_wait() {
        session.load().refuse();
        request.nack();
        if let Some(promise) = promise {
            promise.forget();
        }
        return;
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
