//! Facts that a member has about its world.

use std::time::Duration;

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
    pub(super) transport: Options,
    pub(super) timeout: Duration,
}
