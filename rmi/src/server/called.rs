//! What becomes of a call when it arrives.

use std::time::Instant;

use jstream_transport::active::Request;

use super::incoming::{Answer, Incoming, refuse};
use crate::context::Context;
use crate::frame::{Code, Word};
use crate::intercept::{CallInfo, Denied, Side};
use crate::reflection::REFLECTION;
use crate::session::Session;

/// A call of the other side has come.
pub(crate) fn called(request: Request) {
    let word = Word::of(request.word());
    let now = Instant::now();
    // It may have waited here for its turn.
    let deadline = word
        .time
        .and_then(|time| now.checked_add(time)?.checked_sub(request.waited()));
    if deadline.is_some_and(|deadline| deadline <= now) {
        return fail(request, Code::TooLate, "");
    }
    let Some(session) = request.attached::<Session>() else {
        return request.nack();
    };
    let Some((interface, callee)) = session.object(word.object) else {
        return fail(request, Code::UnknownObject, "");
    };
    let method = usize::from(word.method);
    if method >= interface.len() {
        let known = format!("it has {}", interface.description());
        return fail(request, Code::UnknownMethod, &known);
    }
    if let Some(tape) = &session.tape {
        tape.called(word.object, word.method, interface);
    }
    if session.is_ending() && word.object != REFLECTION {
        session.load().refuse();
        return fail(request, Code::Ending, "");
    }
    if request.backlog() > session.terms.max_backlog {
        session.load().refuse();
        return fail(request, Code::Unread, "");
    }
    if !session.may_wait() {
        session.load().refuse();
        return request.nack();
    }
    let watched = session.terms.interceptors.before(|| CallInfo {
        side: Side::Callee,
        object: word.object.into(),
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
    let (payload, replier) = request.into_parts();
    let call = Incoming {
        payload,
        answer: Answer::new(replier, watched),
    };
    callee.call(method, call, context);
}

fn fail(request: Request, code: Code, why: &str) {
    let (_, replier) = request.into_parts();
    refuse(replier, code, why);
}
