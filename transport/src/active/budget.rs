//! How long handlers may take in the receive loop.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::turn;

/// What a handler may take for which nothing else was said: longer than the clock's tick.
const DEFAULT: Duration = Duration::from_millis(10);

/// A limit of time that is watched, not enforced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget(Duration);

/// When something has begun, and how long its thread had waited before.
pub(super) struct Begun {
    at: At,
    waited: Duration,
}

/// Short times are measured by the clock, and long ones by its ticks of a few milliseconds, which cost next to
/// nothing.
enum At {
    Moment(Instant),
    Tick(Duration),
}

impl Budget {
    pub(super) const fn of(most: Duration) -> Self {
        Self(most)
    }

    #[inline]
    pub(super) fn begin(self) -> Begun {
        let at = if self.0 < DEFAULT {
            At::Moment(Instant::now())
        } else {
            At::Tick(tick())
        };
        Begun {
            at,
            waited: turn::waited(),
        }
    }

    /// Counts, and reports, what has taken longer. Waiting for answers does not count: others go on meanwhile.
    #[inline]
    pub(super) fn end(self, begun: &Begun, name: &str, overrun: &AtomicU64) {
        let took = match begun.at {
            At::Moment(moment) => moment.elapsed(),
            At::Tick(then) => tick().saturating_sub(then),
        };
        if took > self.0 {
            let waited = turn::waited().saturating_sub(begun.waited);
            self.judge(took.saturating_sub(waited), name, overrun);
        }
    }

    #[cold]
    fn judge(self, took: Duration, name: &str, overrun: &AtomicU64) {
        if took <= self.0 {
            return;
        }
        let times = overrun.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // One that always takes too long is reported ever less often.
        if times.is_power_of_two() {
            let budget = self.0;
            tracing::warn!(handler = name, ?took, ?budget, times, "ran over its budget");
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self(DEFAULT)
    }
}

/// What the clock said at its last tick.
#[inline]
fn tick() -> Duration {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or(0))
}
