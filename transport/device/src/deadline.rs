//! Deadlines of blocking calls.

use std::time::{Duration, Instant};

use super::sim::clock;

/// A point in time after which to stop waiting, or never.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// The deadline that never passes.
    pub const NEVER: Self = Self(None);

    /// Returns the deadline at `moment`.
    #[must_use]
    pub fn at(moment: Instant) -> Self {
        Self(Some(moment))
    }

    /// Returns the deadline `timeout` from now, or `NEVER` if that is beyond the range of
    /// `Instant`.
    pub fn after(timeout: Duration) -> Self {
        if timeout == Duration::MAX {
            return Self::NEVER;
        }
        Self(clock().checked_add(timeout))
    }

    /// Returns the point in time; `None` for never.
    pub fn moment(self) -> Option<Instant> {
        self.0
    }

    /// Returns the time that is left: zero if the deadline has passed, `None` for never. Reads the
    /// clock only if there is a deadline.
    pub fn left(self) -> Option<Duration> {
        self.0.map(|then| then.saturating_duration_since(clock()))
    }

    /// Returns true if no time is left.
    #[must_use]
    pub fn has_passed(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// Returns the earlier of two deadlines.
    #[must_use]
    pub fn or_sooner(self, other: Self) -> Self {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Self(Some(a.min(b))),
            (a, b) => Self(a.or(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sooner_one_counts() {
        let never = Deadline::after(Duration::MAX);
        assert_eq!(never.left(), None);
        let now = Deadline::after(Duration::ZERO);
        assert!(now.has_passed());
        assert!(now.or_sooner(never).has_passed());
        assert!(Deadline::NEVER.or_sooner(now).has_passed());
        assert!(!Deadline::NEVER.or_sooner(never).has_passed());
        let next = Deadline::after(Duration::from_secs(1000));
        assert!(next.or_sooner(now).has_passed());
        assert!(next.left() > Some(Duration::from_secs(500)));
    }
}
