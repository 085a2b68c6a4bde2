//! Latencies of a method, of which a percentile is needed.
//!
//! Decision 126 has the reasons.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Number of buckets: four for each power of two of nanoseconds.
const BUCKETS: usize = 256;

/// Number of calls from which on a percentile is known.
const LEAST_CALLS: u32 = 100;

/// Number of calls after which all counts are halved, so that old calls lose their weight.
const MOST_CALLS: u32 = 2000;

/// Histogram of the latencies of a method. Threads may update it at once, so the counts are
/// estimates.
pub(super) struct MethodLatencies {
    buckets: [AtomicU32; BUCKETS],
    calls: AtomicU32,
}

impl MethodLatencies {
    pub(super) fn new() -> Self {
        Self {
            buckets: [const { AtomicU32::new(0) }; BUCKETS],
            calls: AtomicU32::new(0),
        }
    }

    /// Records a call.
    pub(super) fn record(&self, took: Duration) {
        if let Some(bucket) = self.buckets.get(bucket_of(took)) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let calls = self.calls.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if calls >= MOST_CALLS {
            let halved = (calls, calls / 2);
            let is_first = self.calls.compare_exchange(
                halved.0,
                halved.1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            // One thread halves the buckets. The others have found another count.
            if is_first.is_ok() {
                for bucket in &self.buckets {
                    // Halved by subtraction, so that calls which are recorded meanwhile are not
                    // lost.
                    let count = bucket.load(Ordering::Relaxed);
                    bucket.fetch_sub(count / 2, Ordering::Relaxed);
                }
            }
        }
    }

    /// Returns the latency that this share of the calls does not exceed, rounded up by at most a
    /// quarter. `None` if there were too few calls.
    pub(super) fn percentile(&self, share: f64) -> Option<Duration> {
        let counts = self
            .buckets
            .each_ref()
            .map(|one| one.load(Ordering::Relaxed));
        let all = counts
            .iter()
            .fold(0u32, |sum, count| sum.saturating_add(*count));
        if all < LEAST_CALLS {
            return None;
        }
        let mut left = f64::from(all) * share;
        let found = counts.iter().position(|count| {
            left -= f64::from(*count);
            left <= 0.0
        });
        Some(end_of(found.unwrap_or(BUCKETS)))
    }
}

fn bucket_of(took: Duration) -> usize {
    // Below that, a power of two has no quarters.
    let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX).max(4);
    let exponent = nanos.ilog2();
    let quarter = (nanos >> exponent.saturating_sub(2)) & 3;
    let quarter = usize::try_from(quarter).unwrap_or(0);
    usize::try_from(exponent).map_or(0, |exponent| {
        exponent.saturating_mul(4).saturating_add(quarter)
    })
}

/// Returns the first latency above those of a bucket.
fn end_of(bucket: usize) -> Duration {
    let (exponent, quarter) = (bucket / 4, bucket % 4);
    let quarters = u128::try_from(quarter).unwrap_or(0).saturating_add(5);
    let nanos = (quarters << exponent.min(64)) / 4;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_bucket_is_above_its_latencies() {
        for nanos in [4, 5, 7, 8, 1000, 123_456_789, u64::MAX / 2] {
            let took = Duration::from_nanos(nanos);
            let end = end_of(bucket_of(took));
            assert!(end > took && end <= took.mul_f64(1.26), "{took:?} {end:?}");
        }
        assert!(bucket_of(Duration::MAX) < BUCKETS);
    }

    #[test]
    fn a_percentile_needs_some_calls_and_follows_new_ones() {
        let latencies = MethodLatencies::new();
        let record = |millis, times| {
            (0..times).for_each(|_| latencies.record(Duration::from_millis(millis)));
        };
        record(1, 95);
        assert_eq!(latencies.percentile(0.9), None);
        record(100, 5);
        let usual = latencies.percentile(0.9).unwrap();
        assert!(usual < Duration::from_millis(2), "{usual:?}");
        assert!(latencies.percentile(0.99).unwrap() > Duration::from_millis(100));
        record(10, 20_000);
        let usual = latencies.percentile(0.5).unwrap();
        assert!(usual > Duration::from_millis(9), "{usual:?}");
        // The counts do not grow without end.
        let counts = latencies
            .buckets
            .iter()
            .map(|one| one.load(Ordering::Relaxed));
        assert!(counts.sum::<u32>() <= 2 * MOST_CALLS);
    }
}
