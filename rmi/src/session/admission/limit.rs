//! The adaptive limit of the number of calls that run at once.
//!
//! The limit grows and shrinks once per window of time (AIMD). In each window, calls vote: a call
//! is slow if it took much longer than the calls of its method usually do. The usual latency of a
//! method is a low quantile that moves slowly, so a few calls that end at once, or never, do not
//! change it.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use crate::session::admission::options::AdmissionOptions;

/// Minimum time and number of calls of a window.
const WINDOW: Duration = Duration::from_millis(50);
const WINDOW_CALLS: u32 = 16;

/// Time by which a call may always take longer than usual. Shorter delays are noise of scheduling.
const GRACE: Duration = Duration::from_millis(1);

/// One call of this number is expected to be faster than the usual latency.
const FAST_SHARE: u32 = 8;

/// A method: the address of its interface, and its index.
pub(super) type MethodKey = (usize, u16);

/// The adaptive limit. It stays between its bounds.
#[derive(Debug)]
pub(super) struct AdaptiveLimit {
    limit: usize,
    min: usize,
    max: usize,
    max_slowdown: u32,
    window_number: u64,
    window_begin: Instant,
    slow_calls: u32,
    calls: u32,
    /// True if a call could not run at once in this window.
    was_reached: bool,
    methods: FxHashMap<MethodKey, UsualLatency>,
}

/// The usual latency of a method, and its calls in one window.
#[derive(Debug)]
struct UsualLatency {
    latency: Duration,
    window_number: u64,
    faster_calls: u32,
    calls: u32,
}

impl AdaptiveLimit {
    pub(super) fn new(options: &AdmissionOptions, now: Instant) -> Self {
        let (min, max) = match options.limits_running() {
            true => (options.min_running.max(1), options.max_running.max(1)),
            false => (usize::MAX, usize::MAX),
        };
        let min = min.min(max);
        Self {
            limit: min,
            min,
            max,
            max_slowdown: options.max_slowdown.max(1),
            window_number: 0,
            window_begin: now,
            slow_calls: 0,
            calls: 0,
            was_reached: false,
            // Keys are addresses of interfaces of this program, and indices below their lengths. So
            // peers can't make this table grow.
            methods: FxHashMap::default(),
        }
    }

    /// Returns the present limit.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Records that a call could not run at once.
    pub(super) fn record_reached(&mut self) {
        self.was_reached = true;
    }

    /// Records a call that has returned a result.
    pub(super) fn record(&mut self, method: MethodKey, latency: Duration, now: Instant) {
        // A fixed limit needs no votes.
        if self.min == self.max {
            return;
        }
        let number = self.window_number;
        let usual = self.methods.entry(method).or_insert(UsualLatency {
            latency,
            window_number: number,
            faster_calls: 0,
            calls: 0,
        });
        usual.record(latency, number);
        // The usual latency moves at the end of windows only, so slow calls do not change the
        // measure for themselves.
        let allowed = usual.latency.saturating_mul(self.max_slowdown);
        self.calls = self.calls.saturating_add(1);
        if latency > allowed.saturating_add(GRACE) {
            self.slow_calls = self.slow_calls.saturating_add(1);
        }
        let took = now.saturating_duration_since(self.window_begin);
        // Few calls make a vote of chance, so a quiet server has long windows.
        if took >= WINDOW && self.calls >= WINDOW_CALLS {
            self.end_window(now);
        }
    }

    fn end_window(&mut self, now: Instant) {
        if self.slow_calls > self.calls / 2 {
            // At least one, so that small limits shrink as well.
            self.limit = self.limit.saturating_sub((self.limit / 8).max(1));
        } else if self.was_reached {
            // A limit that no call has met says nothing about what the server could do, and stays.
            // The square root lets large limits grow as fast as their noise.
            self.limit = self.limit.saturating_add(self.limit.isqrt().max(1));
        }
        self.limit = self.limit.clamp(self.min, self.max);
        self.window_number = self.window_number.wrapping_add(1);
        self.window_begin = now;
        (self.slow_calls, self.calls, self.was_reached) = (0, 0, false);
    }
}

impl UsualLatency {
    fn record(&mut self, latency: Duration, window_number: u64) {
        if self.window_number != window_number {
            self.end_window();
            self.window_number = window_number;
        }
        self.calls = self.calls.saturating_add(1);
        if latency < self.latency {
            self.faster_calls = self.faster_calls.saturating_add(1);
        }
    }

    /// Moves the latency towards the quantile of [`FAST_SHARE`]: down by a sixteenth, or up by a
    /// 128th. So load that lasts becomes usual only after seconds, in which the limit has shrunk.
    fn end_window(&mut self) {
        let part = |of: u32| self.latency.checked_div(of).unwrap_or_default();
        let step = match self.faster_calls.saturating_mul(FAST_SHARE) > self.calls {
            true => self.latency.saturating_sub(part(16)),
            false => self.latency.saturating_add(part(128)),
        };
        // A latency of 0 could not grow.
        self.latency = step.max(Duration::from_nanos(128));
        (self.faster_calls, self.calls) = (0, 0);
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "test code")]
mod tests {
    use super::*;

    const METHOD: MethodKey = (1, 0);

    struct Calls {
        limit: AdaptiveLimit,
        now: Instant,
    }

    impl Calls {
        fn new(min: usize, max: usize) -> Self {
            let now = Instant::now();
            let options = AdmissionOptions {
                min_running: min,
                max_running: max,
                ..AdmissionOptions::default()
            };
            let limit = AdaptiveLimit::new(&options, now);
            Self { limit, now }
        }

        /// Records a window of calls, of which each `nth` takes `rare` and the others `often`.
        fn window(&mut self, often: Duration, (nth, rare): (u32, Duration)) -> usize {
            self.limit.record_reached();
            for call in 1..=100u32 {
                self.now += WINDOW / 100;
                let is_rare = nth > 0 && call % nth == 0;
                let latency = if is_rare { rare } else { often };
                self.limit.record(METHOD, latency, self.now);
            }
            self.limit.limit()
        }

        fn windows(&mut self, count: usize, often: Duration) -> usize {
            (0..count).fold(0, |_, _| self.window(often, (0, often)))
        }
    }

    const FAST: Duration = Duration::from_millis(10);
    const SLOW: Duration = Duration::from_millis(40);

    #[test]
    fn the_limit_shrinks_under_load_and_recovers() {
        let mut calls = Calls::new(4, 100);
        assert_eq!(calls.limit.limit(), 4);
        assert_eq!(calls.windows(60, FAST), 100);
        assert_eq!(calls.windows(40, SLOW), 4);
        assert_eq!(calls.windows(100, FAST), 100);
    }

    #[test]
    fn a_limit_that_is_not_reached_does_not_grow() {
        let mut calls = Calls::new(4, 100);
        for _ in 0..1000 {
            calls.now += WINDOW;
            calls.limit.record(METHOD, FAST, calls.now);
        }
        assert_eq!(calls.limit.limit(), 4);
    }

    #[test]
    fn a_few_calls_that_end_at_once_or_late_change_nothing() {
        for rare in [Duration::ZERO, Duration::from_secs(100)] {
            let mut calls = Calls::new(4, 100);
            calls.windows(60, FAST);
            let least = (0..1000).map(|_| calls.window(FAST, (10, rare))).min();
            assert_eq!(least, Some(100), "{rare:?}");
        }
    }

    #[test]
    fn latency_that_does_not_depend_on_the_limit_becomes_usual() {
        let mut calls = Calls::new(4, 100);
        calls.windows(60, FAST);
        assert_eq!(calls.windows(50, SLOW), 4);
        assert_eq!(calls.windows(500, SLOW), 100);
    }

    #[test]
    fn methods_have_latencies_of_their_own() {
        let mut calls = Calls::new(4, 100);
        for call in 0..4000u32 {
            calls.now += WINDOW / 40;
            calls.limit.record_reached();
            let (index, latency) = [(0, FAST), (1, SLOW * 100)][call as usize % 2];
            calls.limit.record((1, index), latency, calls.now);
        }
        assert_eq!(calls.limit.limit(), 100);
    }

    #[test]
    fn equal_bounds_are_a_fixed_limit() {
        let mut calls = Calls::new(7, 7);
        assert_eq!(calls.windows(10, FAST), 7);
        assert_eq!(calls.windows(10, SLOW), 7);
        assert!(calls.limit.methods.is_empty());
        // The upper bound decides.
        assert_eq!(Calls::new(9, 7).limit.limit(), 7);
    }
}
