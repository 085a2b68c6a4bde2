//! Handlers of arriving messages that concern the tables of a session.

use jstream_active::Request;

use crate::frame::{CallHeader, MovingMessage, is_of_every_server};
use crate::session::attending;
use crate::session::connection::Connection;
use crate::session::state::Session;

/// Handles a message about references. An invalid message closes the connection.
pub(crate) fn referenced(request: Request) {
    let word = request.word();
    let (payload, replier) = request.into_parts();
    // A thread that serves the group may receive a message between the handshake and the moment at
    // which the session is attached. The peer was given no reference by then, so there is none that
    // the message could concern.
    if replier.attached::<Session>().is_none() {
        return;
    }
    let connection = Connection::from_peer(replier.peer());
    let references = connection.references();
    if !references.told(&connection, word, payload.as_bytes()) {
        connection.peer().close();
    }
}

/// Admits calls that name others, that others may name, or that have metadata, in order of arrival.
/// Returns `None` if the call is held.
pub(crate) fn admit(request: Request) -> Option<Request> {
    let word = CallHeader::from_word(request.word());
    // The handler of calls returns a call that has arrived before the session was attached as busy,
    // so it goes on to there.
    let Some(session) = request.attached::<Session>() else {
        return Some(request);
    };
    if is_of_every_server(word.object) && word.has_metadata == 0 {
        return Some(request);
    }
    // Both are read before the queues are locked, and may be outdated when they are used. A limit
    // may be exceeded by the calls of the threads that read it at once, which is why it is not a
    // bound of memory: the window is.
    let (may_wait, is_ending) = (session.may_wait(), session.is_ending());
    // The clone ends the borrow of the session from the request, which the queues then own.
    let promises = session.promises.clone();
    promises.admit(request, word, may_wait, is_ending)
}

/// Handles a frame of a stream. An invalid frame closes the connection.
pub(crate) fn streamed(request: Request) {
    let word = request.word();
    let (payload, replier) = request.into_parts();
    let Some(session) = replier.attached::<Session>() else {
        return;
    };
    if !session.wire.streams.arrive(word, payload) {
        replier.peer().close();
    }
}

/// Retires the connection of a server that tells this side to move, before a thread serves the
/// message.
pub(crate) fn retire(request: Request) -> Option<Request> {
    if MovingMessage::from_word(request.word()) == Some(MovingMessage::Move) {
        // This runs when the message is received, not when a thread has time to serve it. A program
        // whose threads all wait for their own calls would otherwise go on to use the connection.
        request.peer().attendant().retire();
    }
    Some(request)
}

/// Handles a message about the end of a server. An invalid message closes the connection.
pub(crate) fn moving(request: Request) {
    let word = request.word();
    let (payload, replier) = request.into_parts();
    let Some(session) = replier.attached::<Session>() else {
        return;
    };
    let moving = &session.moving;
    match MovingMessage::from_word(word).filter(|_| payload.is_empty()) {
        Some(MovingMessage::Attend) => moving.record_attended(),
        // The connection is retired already. The thread that attends has to look now, since the
        // server waits a second for the answer.
        Some(MovingMessage::Move) => attending::hurry(),
        Some(MovingMessage::Moved) => moving.record_moved(),
        // No version of this protocol has other messages here, so the peer is broken or hostile,
        // and nothing that it says from now on can be trusted.
        None => replier.peer().close(),
    }
}
