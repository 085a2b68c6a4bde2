//! Properties of a connection, as programs see them.

use super::counters::Counters;
use super::shared::Shared;
use jstream_base::Address;
use jstream_device::connection::Limits;

/// Properties of a connection; see [`Endpoint::info`](crate::Endpoint::info). Only the counters
/// change: they are from the time of the call.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EndpointInfo<'a> {
    /// Address that the endpoint connected to, or at which it was accepted.
    pub address: &'a Address,
    /// Scheme of the device that carries the messages.
    pub scheme: &'static str,
    /// User id of the peer's process as the system reported it when the connection was made, or
    /// `None` if the connection is neither a Unix socket nor shared memory.
    pub peer_user: Option<u32>,
    /// Limits of the connection.
    pub limits: &'a Limits,
    /// One sentence for each feature that the connection does without, although it was requested or
    /// would be faster.
    pub degraded: &'a [String],
    /// Numbers of messages and bytes that were sent and received so far.
    pub counters: Counters,
}

impl<'a> EndpointInfo<'a> {
    pub(crate) fn of(shared: &'a Shared) -> Self {
        let info = shared.info();
        Self {
            address: &info.address,
            scheme: info.scheme,
            peer_user: info.peer_user,
            limits: &info.limits,
            degraded: &info.degraded,
            counters: shared.tally().counters(),
        }
    }
}
