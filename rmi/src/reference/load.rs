//! Load of a member of a set: its calls in flight, their latency, and whether it answers.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::reference::circuit_breaker::{Circuit, CircuitBreaker};

/// One call in the lower half of the counter, and one that has begun in the upper half.
const BEGUN: u64 = 1 << 32;

/// Time after which the latency of an unused member counts half. So a member that was slow once is
/// tried again.
const HALF_LIFE: Duration = Duration::from_secs(1);

/// Minimum latency in nanoseconds by which calls in flight are weighted.
const LEAST_LATENCY: u64 = 1000;

/// Number of calls in a row without an answer after which a member is an outlier.
const OUTLIER: u32 = 3;

/// Load of a member of a set. All fields are estimates, which several threads may update at once.
#[derive(Debug)]
pub(crate) struct MemberLoad {
    began: Instant,
    /// Calls in flight, and above them the number of calls that have begun.
    calls: AtomicU64,
    /// Moving average in nanoseconds.
    latency: AtomicU64,
    /// Time of the last update of the latency, in nanoseconds after `began`.
    updated: AtomicU64,
    /// Number of the last calls in a row that had no answer.
    overdue: AtomicU32,
    /// Number of requests for testing that were answered.
    answered_tests: AtomicU32,
    /// Time until which the member asks for no more calls, in nanoseconds after `began`.
    rests_until: AtomicU64,
    circuit: Option<Circuit>,
}

/// The effect of a call's end on the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallEffect {
    /// The server has answered.
    Answered,
    /// The server has answered, but the time depends on the call, such as that of a stream.
    Streamed,
    /// The server has refused the call, or its method has panicked.
    Failed,
    /// The server has not answered before the deadline.
    Overdue,
    /// The caller did not wait for the answer, or the connection was lost.
    Unknown,
}

impl CallEffect {
    /// Returns true if the member has failed, and `None` if the end says nothing about it.
    fn is_failure(self) -> Option<bool> {
        match self {
            Self::Answered | Self::Streamed => Some(false),
            Self::Failed | Self::Overdue => Some(true),
            Self::Unknown => None,
        }
    }
}

impl MemberLoad {
    /// Creates the load of a member that has answered its first request within this time.
    pub(crate) fn new(first: Duration, breaker: Option<CircuitBreaker>) -> Self {
        Self {
            began: Instant::now(),
            calls: AtomicU64::new(0),
            latency: AtomicU64::new(nanos(first)),
            updated: AtomicU64::new(0),
            overdue: AtomicU32::new(0),
            answered_tests: AtomicU32::new(0),
            rests_until: AtomicU64::new(0),
            circuit: breaker.map(Circuit::new),
        }
    }

    /// Counts a call. Returns the present time.
    pub(super) fn begin(&self) -> Instant {
        self.calls
            // Both counts are one word, so that they are one instruction: each counted call writes
            // this cache line.
            .fetch_add(BEGUN.wrapping_add(1), Ordering::Relaxed);
        Instant::now()
    }

    /// Ends the count of a call.
    pub(super) fn end(&self, since: Instant, effect: CallEffect) {
        // Only the lower half changes. It does not fall below zero, since each call was added
        // before.
        self.calls.fetch_sub(1, Ordering::Relaxed);
        let now = Instant::now();
        let took = nanos(now.saturating_duration_since(since));
        match effect {
            CallEffect::Answered => {
                self.overdue.store(0, Ordering::Relaxed);
                self.record(took, now);
            }
            CallEffect::Streamed => self.overdue.store(0, Ordering::Relaxed),
            CallEffect::Failed => {
                // A failure is an answer, so the member is there.
                self.overdue.store(0, Ordering::Relaxed);
                // A refusal is quick. Counting it as a latency would attract calls to a member that
                // refuses them.
                self.record_at_least(took, now);
            }
            CallEffect::Overdue => {
                self.overdue.fetch_add(1, Ordering::Relaxed);
                // The call would have taken longer than this, so it can only raise the latency.
                self.record_at_least(took, now);
            }
            CallEffect::Unknown => self.record_at_least(took, now),
        }
        if let Some(circuit) = &self.circuit {
            circuit.record(effect.is_failure(), now);
        }
    }

    /// Records the latency of a call that might have taken longer.
    fn record_at_least(&self, took: u64, now: Instant) {
        if took > self.latency_at(now) {
            self.record(took, now);
        }
    }

    /// A higher latency counts half at once, a lower one an eighth.
    fn record(&self, took: u64, now: Instant) {
        let before = self.latency_at(now);
        // A slow answer is noticed at once, and a quick one has to be repeated: one lucky call must
        // not draw all calls to a slow member.
        let after = match took.checked_sub(before) {
            Some(more) => before.saturating_add(more / 2),
            None => before.saturating_sub(before.saturating_sub(took) / 8),
        };
        // Two threads may overwrite the result of each other. The next call corrects the estimate,
        // and a lock would cost each call.
        self.latency.store(after, Ordering::Relaxed);
        self.updated.store(self.elapsed(now), Ordering::Relaxed);
    }

    /// Records that the member has refused a call, because it is busy. It may have said for how
    /// long.
    pub(crate) fn record_refusal(&self, retry_after: Option<Duration>) {
        let now = Instant::now();
        if let Some(time) = retry_after {
            let until = self.elapsed(now).saturating_add(nanos(time));
            // A later refusal may state a shorter time than an earlier one that is still running.
            self.rests_until.fetch_max(until, Ordering::Relaxed);
        }
        let more = self.latency_at(now).saturating_mul(8);
        // At least a millisecond, so that a member whose calls take microseconds is left alone for
        // a noticeable time, too.
        self.record(more.max(1000 * LEAST_LATENCY), now);
    }

    /// Returns the time until which the member asks for no more calls, if that is later than `now`.
    pub(crate) fn rests_until(&self, now: Instant) -> Option<Instant> {
        let until = self.rests_until.load(Ordering::Relaxed);
        let until = self.began.checked_add(Duration::from_nanos(until))?;
        (until > now).then_some(until)
    }

    fn elapsed(&self, now: Instant) -> u64 {
        nanos(now.saturating_duration_since(self.began))
    }

    fn latency_at(&self, now: Instant) -> u64 {
        let idle = self
            .elapsed(now)
            .saturating_sub(self.updated.load(Ordering::Relaxed));
        aged(self.latency.load(Ordering::Relaxed), idle)
    }

    /// Returns the moving average of the latency.
    pub(crate) fn latency(&self, now: Instant) -> Duration {
        Duration::from_nanos(self.latency_at(now))
    }

    /// Returns the expected time of one more call, for comparison with other members.
    pub(crate) fn cost(&self, now: Instant) -> u64 {
        // Without a minimum, a member with a latency of zero would cost nothing however many calls
        // it had.
        let latency = self.latency_at(now).max(LEAST_LATENCY);
        latency.saturating_mul(u64::from(self.in_flight()).saturating_add(1))
    }

    /// Returns the number of counted calls in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        u32::try_from(self.calls.load(Ordering::Relaxed) % BEGUN).unwrap_or(u32::MAX)
    }

    /// Returns the number of counted calls that have begun, modulo 2 to the power of 32.
    pub(crate) fn begun(&self) -> u32 {
        u32::try_from(self.calls.load(Ordering::Relaxed) / BEGUN).unwrap_or(u32::MAX)
    }

    /// Returns the circuit to the member, if it has a breaker.
    pub(crate) fn circuit(&self) -> Option<&Circuit> {
        self.circuit.as_ref()
    }

    /// Returns true if the last calls had no answer.
    pub(crate) fn is_outlier(&self) -> bool {
        self.overdue.load(Ordering::Relaxed) >= OUTLIER
    }

    /// Returns true if the last counted call was answered.
    pub(crate) fn is_reliable(&self) -> bool {
        self.overdue.load(Ordering::Relaxed) == 0
    }

    /// Returns the number of requests for testing that were answered.
    pub(crate) fn answered_tests(&self) -> u32 {
        self.answered_tests.load(Ordering::Relaxed)
    }

    /// Records that a request for testing was answered. One more call without an answer makes the
    /// member an outlier again.
    pub(crate) fn reinstate(&self) {
        self.answered_tests.fetch_add(1, Ordering::Relaxed);
        let last = OUTLIER.saturating_sub(1);
        // One failure below the limit: a member that answers the test, and then no call, is an
        // outlier again after one call.
        self.overdue.fetch_min(last, Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns a latency after `idle` nanoseconds without calls: half of it for each half-life, and a
/// share in proportion within one. A member that was slow once is soon tried again.
fn aged(latency: u64, idle: u64) -> u64 {
    let half = nanos(HALF_LIFE);
    let halvings = idle.checked_div(half).unwrap_or(0);
    let halvings = u32::try_from(halvings).unwrap_or(u32::MAX);
    let halved = latency.checked_shr(halvings).unwrap_or(0);
    let rest = u128::from(idle.checked_rem(half).unwrap_or(0));
    let lost = u128::from(halved)
        .saturating_mul(rest)
        .checked_div(u128::from(half).saturating_mul(2));
    halved.saturating_sub(lost.map_or(0, |lost| u64::try_from(lost).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_after(load: &MemberLoad, took: Duration, effect: CallEffect) {
        let since = load.begin().checked_sub(took);
        load.end(since.unwrap_or(load.began), effect);
    }

    #[test]
    fn calls_in_flight_multiply_the_cost() {
        let load = MemberLoad::new(Duration::from_millis(8), None);
        let now = load.began;
        let alone = load.cost(now);
        let calls = [load.begin(), load.begin()];
        assert_eq!((load.in_flight(), load.begun()), (2, 2));
        assert_eq!(load.cost(now), alone * 3);
        for since in calls {
            load.end(since, CallEffect::Streamed);
        }
        assert_eq!((load.in_flight(), load.begun()), (0, 2));
        assert_eq!(load.cost(now), alone);
    }

    #[test]
    fn a_slow_call_counts_more_than_a_quick_one() {
        let load = MemberLoad::new(Duration::from_millis(10), None);
        end_after(&load, Duration::from_secs(1), CallEffect::Answered);
        let slow = load.latency(Instant::now());
        assert!(slow > Duration::from_millis(400), "{slow:?}");
        end_after(&load, Duration::ZERO, CallEffect::Answered);
        let after = load.latency(Instant::now());
        assert!(after < slow && after > slow / 2, "{after:?}");
        // Calls that end early say nothing about the server.
        end_after(&load, Duration::ZERO, CallEffect::Unknown);
        assert!(load.latency(Instant::now()) > slow / 2);
    }

    #[test]
    fn an_unused_member_regains_its_chance() {
        let load = MemberLoad::new(Duration::from_secs(1), None);
        let due = load.began + HALF_LIFE;
        assert_eq!(load.latency(due), Duration::from_millis(500));
    }

    #[test]
    fn a_member_rests_until_the_latest_time_that_it_stated() {
        let load = MemberLoad::new(Duration::ZERO, None);
        let now = load.began;
        load.record_refusal(None);
        assert_eq!(load.rests_until(now), None);
        load.record_refusal(Some(Duration::from_secs(100)));
        load.record_refusal(Some(Duration::from_secs(1)));
        let until = load.rests_until(now).unwrap();
        assert!(until >= now + Duration::from_secs(100));
        assert_eq!(load.rests_until(until), None);
    }

    #[test]
    fn outliers_are_reinstated_on_probation() {
        let load = MemberLoad::new(Duration::ZERO, None);
        for _ in 0..OUTLIER {
            assert!(!load.is_outlier());
            end_after(&load, Duration::ZERO, CallEffect::Overdue);
        }
        assert!(load.is_outlier());
        load.reinstate();
        assert!(!load.is_outlier());
        assert_eq!(load.answered_tests(), 1);
        end_after(&load, Duration::ZERO, CallEffect::Overdue);
        assert!(load.is_outlier());
        end_after(&load, Duration::ZERO, CallEffect::Answered);
        assert!(!load.is_outlier());
        end_after(&load, Duration::ZERO, CallEffect::Overdue);
        assert!(!load.is_outlier());
    }

    #[test]
    fn a_latency_halves_in_each_half_life() {
        let half = nanos(HALF_LIFE);
        let after = |halves: u64| aged(8_000_000, half * halves / 2);
        assert_eq!(
            [0, 1, 2, 4, 6].map(after),
            [8_000_000, 6_000_000, 4_000_000, 2_000_000, 1_000_000]
        );
        assert_eq!(aged(u64::MAX, half * 63), 1);
        assert_eq!(aged(u64::MAX, u64::MAX), 0);
    }
}
