//! Large results that wait for their callers to fetch them over another connection, so that no others wait behind them.

use std::io::IoSlice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use jstream::{Filled, Spent};
use jstream_transport::active::{Replier, Request};
use rustc_hash::FxHashMap;

use super::{Connection, MUCH, Session, length};
use crate::clock::Clock;
use crate::context;
use crate::frame::Code;
use crate::server::refuse;
use crate::sync::lock;

/// The number of what gives them to those that ask.
pub(crate) const RESULTS: u32 = u32::MAX.wrapping_sub(2);

/// How much longer than its caller waits a result is kept, which may be about to ask for it.
const SLACK: Duration = Duration::from_secs(1);

/// The results that one client is to fetch.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// The client has another connection.
    has_lane: AtomicBool,
    /// It has had other calls under way beside a large one.
    is_shared: AtomicBool,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    results: FxHashMap<u32, (Filled, Option<Instant>)>,
    bytes: u64,
    next: u32,
}

impl Kept {
    /// Forgets those whose callers wait no more.
    fn purge(&mut self) {
        let now = Instant::now();
        let bytes = &mut self.bytes;
        self.results.retain(|_, (result, until)| {
            let stays = until.is_none_or(|until| until > now);
            if !stays {
                *bytes = bytes.saturating_sub(result.len() as u64);
            }
            stays
        });
    }
}

impl Results {
    pub(crate) fn have_lane(&self) {
        self.has_lane.store(true, Ordering::Relaxed);
    }

    /// Keeps a result, where others would wait for it and there is room: its number.
    fn keep(&self, segments: &[IoSlice<'_>], most: u64) -> Option<u32> {
        let length = length(segments);
        let mut kept = lock(&self.kept);
        kept.purge();
        let bytes = kept.bytes.saturating_add(length as u64);
        if bytes > most {
            return None;
        }
        kept.bytes = bytes;
        let number = kept.next;
        kept.next = number.wrapping_add(1);
        let mut filling = Spent::heap(length).filling();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        let until = context::deadline(&Clock::SYSTEM, Instant::now());
        let until = until.and_then(|until| until.checked_add(SLACK));
        kept.results.insert(number, (filling.finish(), until));
        Some(number)
    }

    /// How many are kept.
    pub(crate) fn count(&self) -> usize {
        let mut kept = lock(&self.kept);
        kept.purge();
        kept.results.len()
    }

    fn take(&self, number: u32) -> Option<Filled> {
        let mut kept = lock(&self.kept);
        let (result, _) = kept.results.remove(&number)?;
        kept.bytes = kept.bytes.saturating_sub(result.len() as u64);
        Some(result)
    }
}

impl Session {
    /// The number of a large result that its caller is to fetch.
    #[inline]
    pub(crate) fn keep_result(&self, replier: &Replier, segments: &[IoSlice<'_>]) -> Option<u32> {
        if length(segments) < MUCH || !self.is_first() || self.is_ending() {
            return None;
        }
        let results = &self.references.results;
        if !results.has_lane.load(Ordering::Relaxed) {
            return None;
        }
        // Who waits for nothing else is better off with the result at once.
        if !results.is_shared.load(Ordering::Relaxed) {
            if replier.peer().under_way() < 2 {
                return None;
            }
            results.is_shared.store(true, Ordering::Relaxed);
        }
        results.keep(segments, self.terms.max_backlog)
    }
}

/// Gives a result to its caller.
#[cold]
pub(crate) fn fetched(request: Request) {
    let session = request.attached::<Session>();
    if let Some(most) = session.map(|session| session.terms.max_backlog) {
        // What it has fetched and not read counts as other answers do.
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
        None => refuse(replier, Code::Result, "the result is not kept any more"),
    }
}
