//! Large results that the server keeps until their callers fetch them over the lane, so that they
//! do not delay other results.
//!
//! Decision 012 has the reasons.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use jstream_active::{Backpressure, Replier, Reply, Request, RequestError, WeakPeer};

use crate::frame::{CallHeader, Code, length};
use crate::session::connection::Connection;
use crate::session::objects::inherited_deadline;
use crate::session::refusal::refuse;
use crate::session::sending::MUCH;
use crate::session::state::Session;

/// Extra time for which a result is kept after the caller's deadline, because a request for it may
/// be in flight.
pub(super) const SLACK: Duration = Duration::from_secs(1);

/// Keeps a large result for its caller to fetch, and returns its number. Returns `None` if the
/// result is to be sent at once.
pub(crate) fn keep_result(replier: &Replier, segments: &[IoSlice<'_>]) -> Option<u32> {
    // A result below this limit does not delay others noticeably, so it is not worth the round trip
    // of a fetch.
    if length(segments) < MUCH {
        return None;
    }
    let session = replier.attached::<Session>()?;
    session.keep_result(replier, segments)
}

impl Session {
    fn keep_result(&self, replier: &Replier, segments: &[IoSlice<'_>]) -> Option<u32> {
        // A server that is ending does not wait for results to be fetched. A client that learned
        // the number would ask a closed connection for it.
        if !self.is_first() || self.is_ending() {
            return None;
        }
        let results = &self.references.results;
        if !results.has_lane.load(Ordering::Relaxed) {
            return None;
        }
        // If the client has no other calls in flight, sending the result at once is faster.
        if !results.is_shared.load(Ordering::Relaxed) {
            // One is the call of this result itself.
            if replier.peer().status().under_way < 2 {
                return None;
            }
            // The flag is never cleared. A client that had calls side by side once will have them
            // again, and this result can't know which calls arrive while it is sent.
            results.is_shared.store(true, Ordering::Relaxed);
        }
        let clock = &self.terms.clock;
        // The method sends its result while it runs, so the deadline of its call is the one that
        // its own calls inherit in this thread.
        let until = inherited_deadline(clock, clock.now());
        let until = until.and_then(|until| until.checked_add(SLACK));
        let charge = |bytes| replier.charge_kept(bytes);
        // Copies the result, because the segments lie in the draft of this thread, which the next
        // message reuses.
        let number = results.keep(segments, self.terms.max_backlog, until, charge)?;
        if let Some(until) = until {
            let connection = Connection::from_peer(replier.peer());
            // The timer of the references drops the result. Another alarm for each result would be
            // a resource that a peer can make grow.
            self.references.tending.keeps(&connection, until, clock);
        }
        Some(number)
    }
}

/// Discards a result that the other side keeps, after its call was abandoned: requests the result
/// by a one-way message.
pub(crate) fn discard_kept(connection: &Connection, number: [u8; 4]) {
    let discard = Arc::new(Discard {
        peer: connection.peer().downgrade(),
        number,
        is_sent: AtomicBool::new(false),
    });
    discard.send(connection);
}

/// Discards the kept result, if any, that the answer of an abandoned call names.
pub(crate) fn discard_answer(
    connection: &Connection,
    answer: Option<&Result<Reply, RequestError>>,
) {
    // A call that was abandoned and nevertheless answered may have left a result at the server,
    // which nobody else would fetch: it would count against the limit of this client until its
    // deadline.
    if let Some(number) = answer.and_then(|answer| number_of(answer.as_ref().ok()?)) {
        discard_kept(connection, number);
    }
}

/// Returns the number of the kept result that a reply names, if any.
pub(crate) fn number_of(reply: &Reply) -> Option<[u8; 4]> {
    let number = reply.payload.as_bytes().try_into().ok()?;
    (reply.word == Code::Kept.to_word()).then_some(number)
}

/// A message that discards a kept result. It is sent as soon as there is credit.
struct Discard {
    peer: WeakPeer,
    number: [u8; 4],
    is_sent: AtomicBool,
}

impl Discard {
    fn send(self: &Arc<Self>, connection: &Connection) {
        if self.lacks_credit(connection) {
            let peer = connection.peer();
            // The waker holds a weak peer: the connection holds its wakers, so a strong handle
            // would be a cycle until credit arrives.
            peer.attendant().wake_at_credit(&Waker::from(self.clone()));
            // Credit may have arrived before the waker was registered.
            self.lacks_credit(connection);
        }
    }

    fn lacks_credit(&self, connection: &Connection) -> bool {
        let word = CallHeader::results().to_word();
        let handler = connection.session().calls;
        let (peer, number) = (connection.peer(), &self.number);
        let sent = peer.send_with(handler, word, number, Backpressure::Fail);
        let lacks_credit = matches!(sent, Err(RequestError::NoCredit));
        self.is_sent.store(!lacks_credit, Ordering::Relaxed);
        lacks_credit
    }
}

impl Wake for Discard {
    fn wake(self: Arc<Self>) {
        // The waker and the second attempt above may run at the same time and both send the
        // message. The server finds nothing for the second one and ignores it, because it is
        // one-way.
        let is_sent = self.is_sent.load(Ordering::Relaxed);
        if let Some(peer) = self.peer.upgrade().filter(|_| !is_sent) {
            self.send(&Connection::from_peer(peer));
        }
    }
}

/// Serves a request for a kept result.
pub(crate) fn fetched(request: Request) {
    let session = request.attached::<Session>();
    if let Some(most) = session.map(|session| session.terms.max_backlog) {
        // Fetched results that the client has not read count against its backlog, like other
        // answers.
        if request.is_unread(most) {
            return request.put_off(most);
        }
    }
    let connection = Connection::from_peer(request.peer());
    // A payload that is not a number is answered like an unknown one. It is no reason to end a
    // connection that may be shared by many callers.
    let number = request.bytes().try_into().map(u32::from_le_bytes).ok();
    // Taken before it is sent: of two requests for one result, one gets it.
    let result = number.and_then(|number| connection.references().results.remove(number));
    let (_, replier) = request.into_parts();
    match result {
        Some(result) => replier.reply_buffer(0, result),
        None => refuse(replier, Code::Result, "the result is no longer kept"),
    }
}
