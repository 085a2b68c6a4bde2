//! How long handlers may take in the receive loop.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::turn;

/// What a handler may take for which nothing else was said: longer than the clock's tick.
const DEFAULT: Duration = Duration::from_millis(10);

/// A limit of time that is watched, not enforced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    most: Duration,
    /// By ticks, in nanoseconds.
    ticks: Option<u64>,
}

/// When something has begun, and how long its thread had waited before.
pub(super) struct Begun {
    at: At,
    waited: Duration,
}

/// Short times are measured by the clock, and long ones by its ticks of a few milliseconds, which cost next to
/// nothing.
enum At {
    Moment(Instant),
    Tick(u64),
}

/// What the clock said at its last tick, if that was asked just before: the end of one is the beginning of the next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tick(Option<u64>);

impl Budget {
    pub(super) fn of(most: Duration) -> Self {
        let ticks = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Self {
            most,
            ticks: (most >= DEFAULT).then_some(ticks),
        }
    }

    /// `last` is when whoever calls was done with what was before, if it was at nothing else since.
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

    /// Counts, and reports, what has taken longer. Waiting for answers does not count: others go on meanwhile. When it
    /// ended.
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
        // One that always takes too long is reported ever less often.
        if times.is_power_of_two() {
            tracing::warn!(handler = name, ?took, ?budget, times, "ran over its budget");
        }
    }
}

impl Begun {
    /// What the clock said at its last tick then, if it was asked.
    #[inline]
    pub(super) fn tick(&self) -> Tick {
        match self.at {
            At::Tick(then) => Tick(Some(then)),
            At::Moment(_) => Tick::default(),
        }
    }
}

impl Tick {
    /// So many nanoseconds after the clock's zero.
    #[inline]
    pub(super) fn nanos(self) -> Option<u64> {
        self.0
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::of(DEFAULT)
    }
}

/// What the clock said at its last tick, in nanoseconds.
#[inline]
pub(super) fn tick() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}
