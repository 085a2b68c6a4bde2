//! Options of client sets.

use std::time::Duration;

use crate::client::{ClientOptions, Reconnect};

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
        }
    }
}

impl SetOptions {
    pub(super) fn reconnect(&self) -> Reconnect {
        self.client.reconnect.unwrap_or_default()
    }
}
