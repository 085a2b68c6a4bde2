//! Facts that a member has about its world.

use std::sync::Arc;
use std::time::Duration;

use super::places::{host_of, is_unspecified};
use super::session::Session;
use jstream_base::{Address, Options};

/// Facts that a member has about its world, beyond the ranks.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) session: Session,
    /// The host under which rank 0 sees this member; empty if it was not reached over a network.
    pub(super) seen: String,
    /// The addresses of rank 0, or others on the same devices.
    pub(super) given: Vec<Address>,
    /// The addresses of the members, by rank. Empty if they reach each other directly.
    pub(super) members: Arc<[Vec<Address>]>,
    pub(super) transport: Options,
    pub(super) timeout: Duration,
}

impl Site {
    /// Returns the host at which a member is reached, or an empty string if it is not known.
    pub(super) fn host_of(&self, rank: u32) -> &str {
        let place = usize::try_from(rank).ok();
        let addresses = place.and_then(|place| self.members.get(place));
        let mut hosts = addresses.into_iter().flatten().map(host_of);
        hosts
            .find(|host| !host.is_empty() && !is_unspecified(host))
            .unwrap_or_default()
    }
}
