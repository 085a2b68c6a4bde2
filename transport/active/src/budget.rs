//! Time budgets of handlers in the receive loop.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jstream_base::events::emit;
use rustix::time::{ClockId, clock_gettime};
use tracing::Level;

use super::turn;

/// Default budget. It is longer than the tick of the coarse clock.
const DEFAULT: Duration = Duration::from_millis(10);

/// A time limit that is reported, not enforced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    most: Duration,
    /// The limit in nanoseconds of the coarse clock; `None` if the budget is too short for that
    /// clock.
    ticks: Option<u64>,
}

/// The start of a measurement, and the total time that its thread had waited before.
pub(super) struct Begun {
    at: At,
    waited: Duration,
}

/// A point in time. Short budgets are measured with the precise clock, long ones with the coarse
/// clock, whose tick is a few milliseconds and whose reading costs almost nothing.
enum At {
    Moment(Instant),
    Tick(u64),
}

/// Reading of the coarse clock, if it was read just before: the end of one handler is the start of
/// the next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tick(Option<u64>);

impl Budget {
    pub(super) fn new(most: Duration) -> Self {
        let ticks = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Self {
            most,
            ticks: (most >= DEFAULT).then_some(ticks),
        }
    }

    /// Starts a measurement. `last` is the tick at which the caller completed its previous work, if
    /// it has done nothing since.
    #[inline]
    pub(super) fn begin(self, last: Tick) -> Begun {
        let at = match self.ticks {
            Some(_) => At::Tick(last.0.unwrap_or_else(tick)),
            None => At::Moment(Instant::now()),
        };
        Begun {
            at,
            waited: turn::waited(),
        }
    }

    /// Ends a measurement, and counts and reports an overrun. Waiting for answers does not count,
    /// as other handlers run meanwhile. Returns the tick of the end.
    #[inline]
    pub(super) fn end(self, begun: &Begun, name: &str, overrun: &AtomicU64) -> Tick {
        let (took, last) = match begun.at {
            At::Moment(moment) => (moment.elapsed(), Tick::default()),
            At::Tick(then) => {
                let now = tick();
                let took = now.saturating_sub(then);
                if took <= self.ticks.unwrap_or_default() {
                    return Tick(Some(now));
                }
                (Duration::from_nanos(took), Tick(Some(now)))
            }
        };
        if took > self.most {
            let waited = turn::waited().saturating_sub(begun.waited);
            self.judge(took.saturating_sub(waited), name, overrun);
        }
        last
    }

    #[cold]
    fn judge(self, took: Duration, name: &str, overrun: &AtomicU64) {
        let budget = self.most;
        if took <= budget {
            return;
        }
        let times = overrun.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // A handler that always overruns is reported with decreasing frequency.
        if times.is_power_of_two() {
            let name = name.to_owned();
            emit(Level::WARN, move || {
                tracing::warn!(handler = name, ?took, ?budget, times, "exceeded its budget");
            });
        }
    }
}

impl Begun {
    /// Returns the tick at the start, if the coarse clock was read.
    #[inline]
    pub(super) fn tick(&self) -> Tick {
        match self.at {
            At::Tick(then) => Tick(Some(then)),
            At::Moment(_) => Tick::default(),
        }
    }
}

impl Tick {
    /// Returns the reading in nanoseconds since the clock's zero.
    #[inline]
    pub(super) fn nanos(self) -> Option<u64> {
        self.0
    }

    /// Returns this reading, or a new one if the clock was not read.
    #[inline]
    pub(super) fn or_now(self) -> Self {
        Self(Some(self.0.unwrap_or_else(tick)))
    }

    /// Returns the nanoseconds since an earlier reading; 0 if the clock was not read.
    #[inline]
    pub(super) fn nanos_since(self, earlier: Self) -> u64 {
        let passed = self.0.zip(earlier.0);
        passed.map_or(0, |(now, then)| now.saturating_sub(then))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

/// Reads the system's coarse monotonic clock, in nanoseconds.
#[inline]
pub(super) fn tick() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}
