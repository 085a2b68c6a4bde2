//! Parameters and state of a wait.

use std::sync::Arc;

use super::members::MemberSnapshot;
use crate::budget::Tick;
use crate::link::Link;
use jstream_device::deadline::Deadline;
use jstream_endpoint::spin::Spin;

/// Parameters of a wait.
pub(crate) struct Wait<'w> {
    /// The connection over which the awaited event arrives, if there is one.
    pub(crate) link: Option<&'w Arc<Link>>,
    /// The request on that connection whose answer is awaited.
    pub(crate) number: Option<u32>,
    pub(crate) until: Deadline,
    /// True if the connection has been idle for a while.
    pub(crate) slept: bool,
}

/// State of a wait.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) members: MemberSnapshot,
    pub(super) spin: Option<Spin>,
    /// True if the only connection has been idle for a while.
    pub(super) slept: bool,
    /// True if a waker was registered with the awaited event. A thread must not sleep in the queue
    /// before that.
    pub(super) is_entered: bool,
    /// True if a sleep in the only connection has ended and no look has followed.
    pub(super) is_awake: bool,
    /// True if the only connection had more data after the last received message.
    pub(super) is_more: bool,
    /// Tick at which the last message was completed.
    pub(super) last: Tick,
}

impl Wait<'_> {
    pub(super) fn wanted(&self) -> Option<(u64, u32)> {
        Some((self.link?.id, self.number?))
    }
}
