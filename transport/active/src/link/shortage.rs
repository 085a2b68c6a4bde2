//! Shortage of room in the pool, which makes received messages wait.
//!
//! Decision 018 has the reasons.

use std::time::{Duration, Instant};

use jstream_base::RecvError;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// The wait of a received message for room in the pool. The summary is true while one waits.
pub(crate) struct PoolShortage(PublishingLock<ShortageState>);

/// State of a message for which the pool has no room, if there is one.
#[derive(Default)]
struct ShortageState(Option<Shortage>);

struct Shortage {
    /// Time of the last failed attempt, and total time waited until then.
    attempted: Instant,
    waited: Duration,
    /// Time at which this was last reported to a caller that waits for an answer.
    reported: Instant,
    /// Error of the pool.
    error: String,
}

impl Publish for ShortageState {
    type Summary = Word<bool>;
    type Listeners = ();

    fn summary(&self) -> bool {
        self.0.is_some()
    }
}

impl PoolShortage {
    pub(super) fn new() -> Self {
        Self(PublishingLock::new(ShortageState::default(), ()))
    }

    /// Returns true if a received message waits.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.0.summary().get()
    }

    /// Records that the pool has no room for a received message. Returns false if that has lasted
    /// longer than `timeout`.
    #[cold]
    pub(crate) fn record(&self, error: &RecvError, timeout: Duration) -> bool {
        let mut state = self.0.lock();
        let now = Instant::now();
        let shortage = state.0.get_or_insert_with(|| Shortage {
            attempted: now,
            waited: Duration::ZERO,
            reported: now,
            error: error.to_string(),
        });
        // The time between two attempts counts for at most a quarter of the timeout, so that a
        // pause of the program does not end the connection.
        let elapsed = now
            .saturating_duration_since(shortage.attempted)
            .min(timeout.checked_div(4).unwrap_or_default());
        shortage.attempted = now;
        shortage.waited = shortage.waited.saturating_add(elapsed);
        shortage.waited < timeout
    }

    /// Returns the error of the pool if a message has waited for `timeout`. The next caller waits
    /// for the full timeout again.
    #[inline]
    pub(crate) fn report(&self, timeout: Duration) -> Option<String> {
        if !self.is_active() {
            return None;
        }
        let mut state = self.0.lock();
        let shortage = state.0.as_mut()?;
        if shortage.reported.elapsed() < timeout {
            return None;
        }
        shortage.reported = Instant::now();
        Some(shortage.error.clone())
    }

    /// Records that no received message waits.
    #[inline]
    pub(crate) fn clear(&self) {
        if self.is_active() {
            self.end();
        }
    }

    #[cold]
    fn end(&self) {
        let ended = self.0.lock().0.take();
        drop(ended);
    }
}
