//! Options of client sets.

use std::time::Duration;

use crate::client::{ClientOptions, Reconnect};
use crate::reference::CircuitBreaker;

/// Limits and timeouts of a [`ClientSet`](crate::ClientSet).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SetOptions {
    /// Options of the connection to each member. Those of
    /// [`reconnect`](ClientOptions::reconnect) have other defaults here: pauses of up to a second,
    /// so that a server is used soon after its restart.
    pub client: ClientOptions,
    /// Pause after which the list of members is asked for again (default 10 s). Each pause is
    /// random, between half of this and all of it.
    pub refresh: Duration,
    /// Maximum number of connections (default 64), including those of members that have left and
    /// still have calls in flight. Of a longer list of members, each set uses a random part.
    /// Protects against sources that return many or ever changing addresses.
    pub max_connections: usize,
    /// Interval at which the set looks whether an unused connection has ended (default 100 ms).
    /// Also the minimum pause between two questions to the source of the members. Protects against
    /// lists that change all the time.
    pub watch: Duration,
    /// Share of the calls that may be repeated after they have reached a server (default 0.1), in
    /// addition to ten a second. Protects servers against repeated calls while they are overloaded.
    pub repetitions: f64,
    /// The zone of this program (default: none). If it is set, the members of the same
    /// [zone](crate::ListedMember::zone) get all calls, as long as one of them can take more.
    pub zone: Option<String>,
    /// Number of calls in flight from which on a member of the own zone takes no more, so that
    /// members elsewhere are used, too (default 64).
    pub zone_calls: u32,
    /// Breaker of the circuits to the members (default: none): a member that fails too many calls
    /// gets none for a while. Calls fail that have no answer before their deadline, that are
    /// refused because the server is busy, or whose methods panic.
    pub breaker: Option<CircuitBreaker>,
    /// Second attempts of calls of `#[remote(idempotent)]` methods, before the first one has ended
    /// (default: none).
    pub hedging: Option<Hedging>,
}

/// Second attempts of calls; see [`SetOptions::hedging`].
///
/// If a call has no answer after a time that most calls of its method do not take, it is also made
/// at another member. The first result is that of the call, and the other attempt is cancelled. It
/// takes from the same budget as repeated calls. Calls of pinned stubs, and calls with more than
/// 64 KiB of arguments, have one attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Hedging {
    /// Share of the calls of a method that end before a second attempt is made (default 0.95).
    /// There are none before a hundred calls have ended.
    pub percentile: f64,
    /// Minimum time before a second attempt (default 1 ms).
    pub least_delay: Duration,
}

impl Default for Hedging {
    fn default() -> Self {
        Self {
            percentile: 0.95,
            least_delay: Duration::from_millis(1),
        }
    }
}

impl Default for SetOptions {
    fn default() -> Self {
        let reconnect = Reconnect {
            longest_pause: Duration::from_secs(1),
            ..Reconnect::default()
        };
        let client = ClientOptions {
            reconnect: Some(reconnect),
            ..ClientOptions::default()
        };
        Self {
            client,
            refresh: Duration::from_secs(10),
            max_connections: 64,
            watch: Duration::from_millis(100),
            repetitions: 0.1,
            zone: None,
            zone_calls: 64,
            breaker: None,
            hedging: None,
        }
    }
}

impl SetOptions {
    pub(super) fn reconnect(&self) -> Reconnect {
        self.client.reconnect.unwrap_or_default()
    }
}
