//! Breakers of the circuits to the members of a set: a member that fails too many calls gets none
//! for a while, and then a single one as a test.
//!
//! Invariant: `is_open` changes under the lock of the state, and is false if the circuit is closed.
//!
//! Decision 126 has the reasons.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::support::lock;

/// Breaker of the circuits to the members of a [`ClientSet`](crate::ClientSet); see
/// [`SetOptions::breaker`](crate::SetOptions::breaker).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CircuitBreaker {
    /// Share of the calls that have to fail (default 0.5).
    pub failures: f64,
    /// Minimum number of calls of the window (default 20), so that few failures are no share.
    pub least_calls: u32,
    /// Time in which calls are counted (default 10 s).
    pub window: Duration,
    /// Pause before the member is tested by a call (default 1 s). After each failed test, it is
    /// twice as long.
    pub pause: Duration,
    /// Maximum pause (default 30 s).
    pub longest_pause: Duration,
}

impl Default for CircuitBreaker {
    fn default() -> Self {
        Self {
            failures: 0.5,
            least_calls: 20,
            window: Duration::from_secs(10),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
        }
    }
}

/// The circuit to a member.
#[derive(Debug)]
pub(crate) struct Circuit {
    options: CircuitBreaker,
    is_open: AtomicBool,
    /// Number of times that the circuit was opened.
    openings: AtomicU64,
    state: Mutex<CircuitState>,
}

#[derive(Debug, Clone, Copy)]
enum CircuitState {
    /// Calls since the beginning of the window.
    Closed {
        since: Instant,
        calls: u32,
        failures: u32,
    },
    /// No calls until that time. Then one call is a test; if it has not ended by that time again,
    /// another one is. `tests` is the number of failed tests.
    Open {
        until: Instant,
        tests: u32,
        is_tested: bool,
    },
}

impl CircuitState {
    fn closed(now: Instant) -> Self {
        Self::Closed {
            since: now,
            calls: 0,
            failures: 0,
        }
    }
}

impl Circuit {
    pub(crate) fn new(options: CircuitBreaker) -> Self {
        Self {
            options,
            is_open: AtomicBool::new(false),
            openings: AtomicU64::new(0),
            state: Mutex::new(CircuitState::closed(Instant::now())),
        }
    }

    /// Returns true if the member gets no calls, except for tests.
    pub(crate) fn is_open(&self) -> bool {
        // Read by each choice of a member, so it takes no lock. A call that reads an old value is
        // one call more or less for the member.
        self.is_open.load(Ordering::Relaxed)
    }

    /// Returns the number of times that the circuit was opened.
    pub(crate) fn openings(&self) -> u64 {
        self.openings.load(Ordering::Relaxed)
    }

    /// Returns true if a call is to test the member now. The caller makes the call.
    pub(crate) fn begin_test(&self, now: Instant) -> bool {
        if !self.is_open() {
            return false;
        }
        let mut state = lock(&self.state);
        match &mut *state {
            CircuitState::Open {
                until,
                tests,
                is_tested,
            } if *until <= now => {
                *is_tested = true;
                // The end of the test is set with its beginning: a test whose call never ends does
                // not keep the circuit open for ever.
                *until = self.pause_end(*tests, now);
                true
            }
            _ => false,
        }
    }

    /// Records the end of a call. `is_failure` is `None` if that says nothing about the member.
    pub(crate) fn record(&self, is_failure: Option<bool>, now: Instant) {
        let mut state = lock(&self.state);
        *state = match (*state, is_failure) {
            // A call that its caller dropped says nothing about the member.
            (CircuitState::Closed { .. }, None) => return,
            (
                CircuitState::Closed {
                    mut since,
                    mut calls,
                    mut failures,
                },
                Some(is_failure),
            ) => {
                if now.saturating_duration_since(since) > self.options.window {
                    (since, calls, failures) = (now, 0, 0);
                }
                calls = calls.saturating_add(1);
                failures = failures.saturating_add(u32::from(is_failure));
                let most = f64::from(calls) * self.options.failures;
                // A share of 0 must not open the circuit of a member that has not failed.
                if calls >= self.options.least_calls.max(1) && f64::from(failures) >= most.max(1.0)
                {
                    self.openings.fetch_add(1, Ordering::Relaxed);
                    self.open(0, now)
                } else {
                    CircuitState::Closed {
                        since,
                        calls,
                        failures,
                    }
                }
            }
            // Calls that began before the circuit was opened do not decide.
            (
                CircuitState::Open {
                    is_tested: false, ..
                },
                _,
            ) => return,
            (CircuitState::Open { .. }, Some(false)) => CircuitState::closed(now),
            (CircuitState::Open { tests, .. }, Some(true)) => {
                self.open(tests.saturating_add(1), now)
            }
            // The test has said nothing about the member. Another one follows after the same pause.
            (CircuitState::Open { tests, .. }, None) => self.open(tests, now),
        };
        let is_open = matches!(*state, CircuitState::Open { .. });
        self.is_open.store(is_open, Ordering::Relaxed);
    }

    fn open(&self, tests: u32, now: Instant) -> CircuitState {
        CircuitState::Open {
            until: self.pause_end(tests, now),
            tests,
            is_tested: false,
        }
    }

    fn pause_end(&self, tests: u32, now: Instant) -> Instant {
        // After 32 failed tests the factor would overflow. The longest pause applies long before.
        let factor = 1u32.checked_shl(tests).unwrap_or(u32::MAX);
        let pause = self.options.pause.saturating_mul(factor);
        let pause = pause.min(self.options.longest_pause);
        now.checked_add(pause).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circuit() -> (Circuit, Instant) {
        let options = CircuitBreaker {
            least_calls: 4,
            ..CircuitBreaker::default()
        };
        (Circuit::new(options), Instant::now())
    }

    fn second(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    #[test]
    fn a_share_of_failures_opens_the_circuit() {
        let (circuit, now) = circuit();
        for is_failure in [true, true, false] {
            circuit.record(Some(is_failure), now);
            assert!(!circuit.is_open());
        }
        circuit.record(None, now);
        assert!(!circuit.is_open());
        circuit.record(Some(false), now);
        assert!(circuit.is_open() && circuit.openings() == 1);
    }

    #[test]
    fn failures_of_an_earlier_window_do_not_count() {
        let (circuit, now) = circuit();
        (0..3).for_each(|_| circuit.record(Some(true), now));
        circuit.record(Some(true), now + second(11));
        assert!(!circuit.is_open());
    }

    #[test]
    fn one_call_tests_an_open_circuit() {
        let (circuit, now) = circuit();
        (0..4).for_each(|_| circuit.record(Some(true), now));
        assert!(!circuit.begin_test(now));
        // A call that began earlier ends.
        circuit.record(Some(false), now);
        assert!(circuit.is_open());
        let then = now + second(1);
        assert!(circuit.begin_test(then) && !circuit.begin_test(then));
        circuit.record(Some(true), then);
        assert!(circuit.is_open() && !circuit.begin_test(then + second(1)));
        // A test whose end says nothing is repeated.
        let then = then + second(2);
        assert!(circuit.begin_test(then));
        circuit.record(None, then);
        // A test that does not end is, too.
        let then = then + second(2);
        assert!(circuit.begin_test(then));
        let then = then + second(2);
        assert!(circuit.begin_test(then));
        circuit.record(Some(false), then);
        assert!(!circuit.is_open() && !circuit.begin_test(then) && circuit.openings() == 1);
    }
}
