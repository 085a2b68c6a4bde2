//! Connections that come to nothing: who makes many of them waits.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::sync::lock;

/// So many may come at once, however few a second may.
const AT_ONCE: u32 = 128;

/// How many there were, less those that are long ago.
#[derive(Debug)]
pub(super) struct Vain {
    /// How long each of them counts.
    each: Duration,
    /// When all that were counted are forgotten.
    until: Mutex<Option<Instant>>,
}

impl Vain {
    /// For so many a second.
    pub(super) fn new(a_second: u32) -> Self {
        Self {
            each: Duration::from_secs(1)
                .checked_div(a_second.max(1))
                .unwrap_or_default(),
            until: Mutex::new(None),
        }
    }

    /// There was one more.
    pub(super) fn note(&self, now: Instant) {
        let mut until = lock(&self.until);
        let from = until.map_or(now, |until| until.max(now));
        *until = from.checked_add(self.each);
    }

    /// How long the next connection has to wait: until there is room for one more.
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
        let vain = Vain::new(100);
        let now = Instant::now();
        for _ in 0..127 {
            vain.note(now);
            assert_eq!(vain.pause(now), None);
        }
        vain.note(now);
        let pause = vain.pause(now);
        assert_eq!(pause, Some(Duration::from_millis(10)));
        for _ in 0..1000 {
            vain.note(now);
        }
        assert_eq!(vain.pause(now), Some(Duration::from_millis(20)));
        let later = |seconds| now.checked_add(Duration::from_secs(seconds)).unwrap_or(now);
        assert!(vain.pause(later(9)).is_some());
        // What is long ago counts no more, and is no credit.
        assert_eq!(vain.pause(later(11)), None);
        for _ in 0..127 {
            vain.note(later(100));
        }
        assert_eq!(vain.pause(later(100)), None);
        vain.note(later(100));
        assert!(vain.pause(later(100)).is_some());
    }
}
