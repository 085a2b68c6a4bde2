//! Rate limiter for failed connections (a token bucket): a server that sees many of them accepts
//! more slowly.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::support::lock;

/// Burst size.
const AT_ONCE: u32 = 128;

/// A token bucket of failed connections.
#[derive(Debug)]
pub(super) struct ConnectThrottle {
    /// Time for which one failed connection counts.
    each: Duration,
    /// Time at which the bucket is full again. `None` if no connection has failed.
    until: Mutex<Option<Instant>>,
}

impl ConnectThrottle {
    /// Creates a limiter for this number of failed connections per second.
    pub(super) fn new(a_second: u32) -> Self {
        Self {
            each: Duration::from_secs(1)
                .checked_div(a_second.max(1))
                .unwrap_or_default(),
            until: Mutex::new(None),
        }
    }

    /// Counts a failed connection.
    pub(super) fn note(&self, now: Instant) {
        let mut until = lock(&self.until);
        let from = until.map_or(now, |until| until.max(now));
        *until = from.checked_add(self.each);
    }

    /// Returns the pause before the next connection is accepted, if the bucket is empty.
    pub(super) fn pause(&self, now: Instant) -> Option<Duration> {
        let until = (*lock(&self.until))?;
        let room = self.each.saturating_mul(AT_ONCE);
        let over = until.saturating_duration_since(now).checked_sub(room)?;
        Some(over.clamp(self.each, self.each.saturating_mul(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_are_waited_for() {
        let throttle = ConnectThrottle::new(100);
        let now = Instant::now();
        for _ in 0..127 {
            throttle.note(now);
            assert_eq!(throttle.pause(now), None);
        }
        throttle.note(now);
        let pause = throttle.pause(now);
        assert_eq!(pause, Some(Duration::from_millis(10)));
        for _ in 0..1000 {
            throttle.note(now);
        }
        assert_eq!(throttle.pause(now), Some(Duration::from_millis(20)));
        let later = |seconds| now.checked_add(Duration::from_secs(seconds)).unwrap_or(now);
        assert!(throttle.pause(later(9)).is_some());
        // Old failures do not count, and an idle time earns no extra credit.
        assert_eq!(throttle.pause(later(11)), None);
        for _ in 0..127 {
            throttle.note(later(100));
        }
        assert_eq!(throttle.pause(later(100)), None);
        throttle.note(later(100));
        assert!(throttle.pause(later(100)).is_some());
    }
}
