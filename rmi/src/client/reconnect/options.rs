//! Options of reconnecting, and the state of a connection.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Reconnecting after a lost connection; see [`ClientOptions::reconnect`](crate::ClientOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reconnect {
    /// Pause after the first failed attempt (default 50 ms). Each further pause is twice as long.
    /// The actual pauses are random, between half of this and all of it, so that the clients of a
    /// server that was restarted do not all connect at the same time.
    pub first_pause: Duration,
    /// Maximum pause (default 5 s).
    pub longest_pause: Duration,
    /// Maximum time that a call waits for connections, over all its repetitions (default 30 s). It
    /// also ends at its own timeout. Protects against a server that does not return, or returns and
    /// never runs the call.
    pub patience: Duration,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(50),
            longest_pause: Duration::from_secs(5),
            patience: Duration::from_secs(30),
        }
    }
}

impl Reconnect {
    /// Returns the pause after this number of failed attempts.
    pub(crate) fn pause(&self, attempts: u32) -> Duration {
        let factor = 1u32
            .checked_shl(attempts.saturating_sub(1))
            // After 32 attempts the shift would overflow. The longest pause applies before that.
            .unwrap_or(u32::MAX);
        let longest = self
            .first_pause
            .saturating_mul(factor)
            .min(self.longest_pause);
        // The standard library draws the keys of its hash tables at random.
        // 24 bits, which a float holds exactly.
        let random = RandomState::new().hash_one(attempts) >> 40;
        let part = random as f64 / (1u64 << 24) as f64;
        longest.mul_f64(0.5 + part / 2.0)
    }
}

/// State of the connection of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionState {
    /// The connection is open.
    Open {
        /// Number of times that the client has connected again.
        reconnects: u64,
    },
    /// The connection was lost. The next call connects again, or waits for an attempt.
    Lost {
        /// Number of failed attempts since then.
        attempts: u32,
        /// Failure of the last attempt; empty if there was none.
        reason: String,
    },
    /// The program has closed the connection, or the client does not reconnect and has lost it.
    Closed,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Reconnect;

    #[test]
    fn pauses_double_up_to_the_longest_one() {
        let options = Reconnect::default();
        for (attempts, most) in [(1, 50), (2, 100), (5, 800), (9, 5000), (80, 5000)] {
            let pause = options.pause(attempts);
            let most = Duration::from_millis(most);
            assert!(pause <= most && pause >= most / 2, "{attempts}: {pause:?}");
        }
    }

    #[test]
    fn pauses_differ() {
        let options = Reconnect::default();
        let pauses: std::collections::HashSet<_> = (0..50).map(|_| options.pause(9)).collect();
        assert!(pauses.len() > 40, "{pauses:?}");
    }
}
