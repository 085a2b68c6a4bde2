//! Options of worlds.

use std::time::Duration;

use super::session::Session;
use jstream_base::Address;
use jstream_base::Options;

/// Configuration of a world: how its members connect, and for how long they try.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorldOptions {
    /// Options of the connections between members.
    pub transport: Options,
    /// Options of the ranks.
    pub rank: crate::Options,
    /// Maximum time to join, until all members have joined (default 30 s). It covers members that
    /// never start, and strangers that occupy a place.
    pub timeout: Duration,
    /// Maximum time of [`World::finish`](super::World::finish) (default 30 s). It covers members
    /// that never finish.
    pub finish_timeout: Duration,
    /// Addresses at which this member listens for the others (default: derived from the addresses
    /// of rank 0). The others try the cheapest first.
    pub listen: Vec<Address>,
    /// The session, if the launcher has told it to the members. Rank 0 then refuses every member
    /// that does not show it. Otherwise, rank 0 generates a session, and tells it to every member
    /// that asks for a place.
    pub session: Option<Session>,
}

/// Time for which a rank spins that shares its core with others, before it yields the core to them.
const SPIN_OF_SHARERS: Duration = Duration::from_micros(1);

impl WorldOptions {
    /// Returns the defaults, with these options for the connections.
    #[must_use]
    pub fn new(transport: Options) -> Self {
        Self {
            rank: crate::Options::new(transport.pool.clone()),
            transport,
            timeout: Duration::from_secs(30),
            finish_timeout: Duration::from_secs(30),
            listen: Vec::new(),
            session: None,
        }
    }

    /// Lets waiting threads yield their core soon, unless the program has set the time to spin.
    pub(super) fn yield_soon(&mut self) {
        let default = Options::new(self.transport.pool.clone()).spin;
        for spin in [&mut self.transport.spin, &mut self.rank.spin] {
            if *spin == default {
                *spin = SPIN_OF_SHARERS;
            }
        }
    }
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self::new(Options::default())
    }
}
