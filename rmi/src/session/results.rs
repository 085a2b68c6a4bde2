//! Large results that the server keeps until their callers fetch them over the lane, so that they
//! do not delay other results.

use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use jstream::{Filled, Spent};
use jstream_transport::active::{Replier, Reply, Request, RequestError, WeakPeer};
use rustc_hash::FxHashMap;

use super::{Connection, Lane, MUCH, Session, length};
use crate::context;
use crate::frame::{CallHeader, Code};
use crate::server::refuse;
use crate::sync::lock;

/// Object number of the service that returns kept results.
pub(crate) const RESULTS: u32 = u32::MAX.wrapping_sub(2);

/// Extra time for which a result is kept after the caller's deadline, because a request for it may
/// be in flight.
const SLACK: Duration = Duration::from_secs(1);

/// Results kept for one client.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// True if the client has a lane.
    has_lane: AtomicBool,
    /// True if the client has had other calls in flight at the same time as a large one.
    is_shared: AtomicBool,
    kept: Mutex<KeptResult>,
}

#[derive(Debug, Default)]
struct KeptResult {
    results: FxHashMap<u32, (Filled, Option<Instant>)>,
    /// Total size of the results in bytes, including those that are being copied.
    bytes: u64,
    next: u32,
    /// True if the connection has ended.
    has_ended: bool,
}

impl KeptResult {
    /// Removes and returns the results whose callers no longer wait.
    fn expire(&mut self, now: Instant) -> Vec<Filled> {
        let is_over = |until: Option<Instant>| until.is_some_and(|until| until <= now);
        let all = self.results.iter();
        let over: Vec<u32> = all
            .filter(|(_, (_, until))| is_over(*until))
            .map(|(number, _)| *number)
            .collect();
        over.into_iter()
            .filter_map(|number| self.take(number))
            .collect()
    }

    fn take(&mut self, number: u32) -> Option<Filled> {
        let (result, _) = self.results.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(result.len() as u64);
        Some(result)
    }
}

impl Results {
    pub(crate) fn have_lane(&self) {
        self.has_lane.store(true, Ordering::Relaxed);
    }

    /// Keeps a result until `until` and returns its number. Returns `None` if more than `most`
    /// bytes would be kept.
    fn keep(&self, segments: &[IoSlice<'_>], most: u64, until: Option<Instant>) -> Option<u32> {
        let length = length(segments);
        let mut kept = lock(&self.kept);
        let bytes = kept.bytes.saturating_add(length as u64);
        if kept.has_ended || bytes > most {
            return None;
        }
        kept.bytes = bytes;
        let number = kept.next;
        kept.next = number.wrapping_add(1);
        drop(kept);
        // The bytes are reserved, so the lock is not held while the result is copied.
        let mut filling = Spent::heap(length).filling();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        let result = filling.finish();
        let mut kept = lock(&self.kept);
        if kept.has_ended {
            return None;
        }
        kept.results.insert(number, (result, until));
        Some(number)
    }

    /// Returns the number of kept results.
    pub(crate) fn count(&self) -> usize {
        lock(&self.kept).results.len()
    }

    fn take(&self, number: u32) -> Option<Filled> {
        lock(&self.kept).take(number)
    }

    /// Drops the results whose callers no longer wait. Returns the time at which the next one
    /// expires.
    pub(crate) fn purge(&self, now: Instant) -> Option<Instant> {
        let mut kept = lock(&self.kept);
        let over = kept.expire(now);
        let next = kept.results.values().filter_map(|(_, until)| *until).min();
        drop(kept);
        drop(over);
        next
    }

    /// Drops all results, because the connection has ended, and keeps no further ones.
    pub(crate) fn end(&self) {
        let mut kept = lock(&self.kept);
        kept.has_ended = true;
        kept.bytes = 0;
        let results = std::mem::take(&mut kept.results);
        drop(kept);
        drop(results);
    }
}

/// Keeps a large result for its caller to fetch, and returns its number. Returns `None` if the
/// result is to be sent at once.
#[inline]
pub(crate) fn keep_result(replier: &Replier, segments: &[IoSlice<'_>]) -> Option<u32> {
    if length(segments) < MUCH {
        return None;
    }
    let session = replier.attached::<Session>()?;
    session.keep_result(replier, segments)
}

impl Session {
    #[cold]
    fn keep_result(&self, replier: &Replier, segments: &[IoSlice<'_>]) -> Option<u32> {
        if !self.is_first() || self.is_ending() {
            return None;
        }
        let results = &self.references.results;
        if !results.has_lane.load(Ordering::Relaxed) {
            return None;
        }
        // If the client has no other calls in flight, sending the result at once is faster.
        if !results.is_shared.load(Ordering::Relaxed) {
            if replier.peer().under_way() < 2 {
                return None;
            }
            results.is_shared.store(true, Ordering::Relaxed);
        }
        let clock = &self.terms.clock;
        let until = context::deadline(clock, clock.now());
        let until = until.and_then(|until| until.checked_add(SLACK));
        let number = results.keep(segments, self.terms.max_backlog, until)?;
        if let Some(until) = until {
            let connection = Connection::of(replier.peer());
            self.references.tending.keeps(&connection, until, clock);
        }
        Some(number)
    }
}

impl Connection {
    /// Returns true if the other side may keep results of calls that this side makes.
    pub(crate) fn fetches(&self) -> bool {
        let lane = self.session().lane.as_ref();
        lane.is_some_and(Lane::is_known)
    }

    /// Discards a result that the other side keeps, after its call was abandoned: requests the
    /// result by a one-way message.
    pub(crate) fn leave_kept(&self, number: [u8; 4]) {
        let leaving = Arc::new(Leaving {
            peer: self.peer().downgrade(),
            number,
            is_said: AtomicBool::new(false),
        });
        leaving.leave(self);
    }

    /// Discards the kept result, if any, that the answer of an abandoned call names.
    pub(crate) fn leave_answer(&self, answer: Option<&Result<Reply, RequestError>>) {
        if let Some(number) = answer.and_then(|answer| number_of(answer.as_ref().ok()?)) {
            self.leave_kept(number);
        }
    }
}

/// Returns the number of the kept result that a reply names, if any.
pub(crate) fn number_of(reply: &Reply) -> Option<[u8; 4]> {
    let number = reply.payload.as_bytes().try_into().ok()?;
    (reply.word == Code::Kept as u64).then_some(number)
}

/// A message that discards a kept result. It is sent as soon as there is credit.
struct Leaving {
    peer: WeakPeer,
    number: [u8; 4],
    is_said: AtomicBool,
}

impl Leaving {
    fn leave(self: &Arc<Self>, connection: &Connection) {
        if self.is_stuck(connection) {
            let peer = connection.peer();
            peer.wake_at_credit(&Waker::from(self.clone()));
            // Credit may have arrived before the waker was registered.
            self.is_stuck(connection);
        }
    }

    fn is_stuck(&self, connection: &Connection) -> bool {
        let word = CallHeader::results().to_wire();
        let handler = connection.session().calls;
        let number = [IoSlice::new(&self.number)];
        let sent = connection.peer().try_send_segments(handler, word, &number);
        let is_stuck = matches!(sent, Err(RequestError::NoCredit));
        self.is_said.store(!is_stuck, Ordering::Relaxed);
        is_stuck
    }
}

impl Wake for Leaving {
    fn wake(self: Arc<Self>) {
        let is_said = self.is_said.load(Ordering::Relaxed);
        if let Some(peer) = self.peer.upgrade().filter(|_| !is_said) {
            self.leave(&Connection::of(peer));
        }
    }
}

/// Serves a request for a kept result.
#[cold]
pub(crate) fn fetched(request: Request) {
    let session = request.attached::<Session>();
    if let Some(most) = session.map(|session| session.terms.max_backlog) {
        // Fetched results that the client has not read count against its backlog, like other
        // answers.
        if request.is_unread(most) {
            return request.put_off(most);
        }
    }
    let connection = Connection::of(request.peer());
    let number = request.bytes().try_into().map(u32::from_le_bytes).ok();
    let result = number.and_then(|number| connection.references().results.take(number));
    let (_, replier) = request.into_parts();
    match result {
        Some(result) => replier.reply_filled(0, result),
        None => refuse(replier, Code::Result, "the result is no longer kept"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_goes() {
        let (results, now) = (Results::default(), Instant::now());
        let later = now.checked_add(SLACK);
        let bytes = [IoSlice::new(&[1; 40]), IoSlice::new(&[2; 20])];
        let first = results.keep(&bytes, 150, None).unwrap();
        let second = results.keep(&bytes, 150, later).unwrap();
        assert_eq!(results.keep(&bytes, 150, None), None);
        assert_eq!(results.take(first).unwrap().as_bytes().len(), 60);
        assert!(results.take(first).is_none());
        let third = results.keep(&bytes, 150, None).unwrap();
        assert_eq!(results.purge(now), later);
        assert_eq!(results.count(), 2);
        // The time of the second result is over.
        assert_eq!(results.purge(later.unwrap()), None);
        assert!(results.take(second).is_none());
        assert_eq!(lock(&results.kept).bytes, 60);
        // The connection has ended.
        results.end();
        assert_eq!((results.count(), lock(&results.kept).bytes), (0, 0));
        assert!(results.take(third).is_none());
        assert_eq!(results.keep(&bytes, 150, None), None);
    }
}
