//! Properties of a connection, as programs see them.

use std::sync::Arc;

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
    /// Group id of the peer's process, like [`peer_user`](Self::peer_user).
    pub peer_group: Option<u32>,
    /// Process id of the peer, like [`peer_user`](Self::peer_user). Also `None` if the process is
    /// not visible here, as in another container. Of a listener, it is the process that began to
    /// listen. The process may have ended, and another may have its id.
    pub peer_process: Option<u32>,
    /// Certificate of the peer, in DER, if the connection uses TLS. This side verified it when the
    /// connection was made.
    pub peer_certificate: Option<&'a Arc<[u8]>>,
    /// Limits of the connection.
    pub limits: &'a Limits,
    /// One sentence for each feature that the connection does without, although it was requested or
    /// would be faster.
    pub degraded: &'a [String],
    /// Numbers of messages and bytes that were sent and received so far.
    pub counters: Counters,
}

impl<'a> EndpointInfo<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        let info = shared.info();
        Self {
            address: &info.address,
            scheme: info.scheme,
            peer_user: info.identity.user,
            peer_group: info.identity.group,
            peer_process: info.identity.process,
            peer_certificate: info.identity.certificate.as_ref(),
            limits: &info.limits,
            degraded: &info.degraded,
            counters: shared.tally().counters(),
        }
    }
}
