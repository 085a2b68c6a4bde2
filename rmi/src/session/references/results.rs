//! Results that the server keeps for its clients.

use std::io::IoSlice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use jstream::{EmptyBuffer, MessageBuffer};
use jstream_base::byte_limit::ByteCharge;
use rustc_hash::FxHashMap;

use crate::frame::length;
use crate::support::lock;

/// Results kept for one client.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// True if the client has a lane.
    pub(crate) has_lane: AtomicBool,
    /// True if the client has had other calls in flight at the same time as a large one.
    pub(crate) is_shared: AtomicBool,
    kept: Mutex<KeptResult>,
}

#[derive(Debug, Default)]
struct KeptResult {
    results: FxHashMap<u32, (MessageBuffer, Option<Instant>, ByteCharge)>,
    /// Total size of the results in bytes, including those that are being copied.
    bytes: u64,
    next: u32,
    /// True if the connection has ended.
    has_ended: bool,
}

impl KeptResult {
    /// Removes and returns the results whose callers no longer wait.
    fn expire(&mut self, now: Instant) -> Vec<MessageBuffer> {
        let is_over = |until: Option<Instant>| until.is_some_and(|until| until <= now);
        let all = self.results.iter();
        let over: Vec<u32> = all
            .filter(|(_, (_, until, _))| is_over(*until))
            .map(|(number, _)| *number)
            .collect();
        over.into_iter()
            .filter_map(|number| self.remove(number))
            .collect()
    }

    fn remove(&mut self, number: u32) -> Option<MessageBuffer> {
        let (result, ..) = self.results.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(result.len() as u64);
        Some(result)
    }
}

impl Results {
    pub(crate) fn have_lane(&self) {
        self.has_lane.store(true, Ordering::Relaxed);
    }

    /// Keeps a result until `until` and returns its number. Returns `None` if more than `most`
    /// bytes would be kept, or if `charge` has no room for the result over all connections.
    pub(crate) fn keep(
        &self,
        segments: &[IoSlice<'_>],
        most: u64,
        until: Option<Instant>,
        charge: impl FnOnce(u64) -> Option<ByteCharge>,
    ) -> Option<u32> {
        let length = length(segments);
        // The limit over all connections is asked before the own one. The charge is given back by
        // its drop if the result is not kept.
        let charge = charge(length as u64)?;
        let mut kept = lock(&self.kept);
        let bytes = kept.bytes.saturating_add(length as u64);
        if kept.has_ended || bytes > most {
            return None;
        }
        // Reserved under the lock, so that threads that copy at the same time can't exceed the
        // limit together.
        kept.bytes = bytes;
        let number = kept.next;
        // A number is used again after four billion results of one connection.
        kept.next = number.wrapping_add(1);
        drop(kept);
        // The bytes are reserved, so the lock is not held while the result is copied.
        let mut filling = EmptyBuffer::heap(length).writer();
        for segment in segments {
            let fits = filling.extend(segment);
            debug_assert!(fits, "there is room for all of them");
        }
        let result = filling.finish();
        let mut kept = lock(&self.kept);
        // The connection has ended during the copy, and has dropped the others. Nothing would ever
        // remove this one.
        if kept.has_ended {
            return None;
        }
        kept.results.insert(number, (result, until, charge));
        Some(number)
    }

    /// Returns the number of kept results.
    pub(crate) fn count(&self) -> usize {
        lock(&self.kept).results.len()
    }

    pub(crate) fn remove(&self, number: u32) -> Option<MessageBuffer> {
        lock(&self.kept).remove(number)
    }

    /// Drops the results whose callers no longer wait. Returns the time at which the next one
    /// expires.
    pub(crate) fn purge(&self, now: Instant) -> Option<Instant> {
        let mut kept = lock(&self.kept);
        let over = kept.expire(now);
        let next = kept
            .results
            .values()
            .filter_map(|(_, until, _)| *until)
            .min();
        // Large buffers are freed without the lock, which the answers of other calls need.
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use jstream_base::byte_limit::ByteTotal;

    use super::*;

    #[test]
    fn kept_results_are_bounded_and_expire() {
        let (results, now) = (Results::default(), Instant::now());
        let expiry = now.checked_add(Duration::from_secs(1));
        let bytes = [IoSlice::new(&[1; 40]), IoSlice::new(&[2; 20])];
        let total = Arc::new(ByteTotal::default());
        let charge = |bytes| total.try_charge(bytes, 1000);
        let keep = |until| results.keep(&bytes, 150, until, charge);
        assert_eq!(results.keep(&bytes, 150, None, |_| None), None);
        let first = keep(None).unwrap();
        let second = keep(expiry).unwrap();
        assert_eq!(keep(None), None);
        assert_eq!(results.remove(first).unwrap().as_bytes().len(), 60);
        assert!(results.remove(first).is_none());
        let third = keep(None).unwrap();
        assert_eq!(results.purge(now), expiry);
        assert_eq!(results.count(), 2);
        // The time of the second result is over.
        assert_eq!(results.purge(expiry.unwrap()), None);
        assert!(results.remove(second).is_none());
        assert_eq!(lock(&results.kept).bytes, 60);
        // The connection has ended.
        results.end();
        assert_eq!((results.count(), lock(&results.kept).bytes), (0, 0));
        assert_eq!(total.bytes(), 0);
        assert!(results.remove(third).is_none());
        assert_eq!(keep(None), None);
    }
}
