//! How a world comes together.

use std::time::Duration;

use super::session::Session;
use crate::address::Address;
use crate::options::Options;
use crate::rank;

/// How the members of a world find each other, and for how long they try.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorldOptions {
    /// How the connections between members receive, and what they allow.
    pub transport: Options,
    /// How the ranks receive, and what they allow each other.
    pub rank: rank::Options,
    /// How long joining may take, until all are there and connected (default 30 s). Answers members
    /// that never start, and strangers that hold a place.
    pub timeout: Duration,
    /// How long [`World::finish`](super::World::finish) may take (default 30 s). Answers members that don't.
    pub finish_timeout: Duration,
    /// Where this member listens for the others (default: derived from how it reaches rank 0). They try the
    /// cheapest first.
    pub listen: Vec<Address>,
    /// The session, where the members were told it by who started them. Rank 0 then lets in nobody who does not
    /// show it; without it, it draws one, and tells everybody who asks for a place.
    pub session: Option<Session>,
}

impl WorldOptions {
    /// The defaults, over connections with these options.
    #[must_use]
    pub fn new(transport: Options) -> Self {
        Self {
            rank: rank::Options::new(transport.pool.clone()),
            transport,
            timeout: Duration::from_secs(30),
            finish_timeout: Duration::from_secs(30),
            listen: Vec::new(),
            session: None,
        }
    }
}

impl Default for WorldOptions {
    fn default() -> Self {
        Self::new(Options::default())
    }
}
