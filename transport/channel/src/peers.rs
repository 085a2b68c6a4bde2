//! List of the peers on the other side of a channel.

use std::sync::Arc;

use jstream::Transportable;

use super::near::NearLink;
use jstream_endpoint::Endpoint;
use jstream_sync::wakers::WakerList;

/// The peers that have joined, and the number of those that are expected.
pub(super) struct Membership<T: Transportable + 'static> {
    pub(super) peers: Vec<JoinedPeer<T>>,
    /// Index of the next peer in round-robin order.
    pub(super) next: usize,
    /// Number of posted receives.
    pub(super) posted: usize,
    /// Number of threads and tasks that rely on the completion queue for wake-ups.
    pub(super) sleepers: usize,
    /// Number of peers that have joined so far, and number that have to join.
    pub(super) came: usize,
    pub(super) expected: usize,
    /// Number of reserved places, of peers that are about to be told that they have joined.
    pub(super) reserved: usize,
    /// Tasks and threads that wait for a peer to join.
    pub(super) tasks: WakerList,
}

pub(super) struct JoinedPeer<T: Transportable + 'static> {
    pub(super) connection: PeerConnection<T>,
    /// True if a receive is posted to this peer.
    pub(super) posted: bool,
}

/// The connection to a peer.
pub(super) enum PeerConnection<T: Transportable + 'static> {
    Far(Endpoint),
    /// The peer is in this process.
    Near(Arc<NearLink<T>>),
}

impl<T: Transportable + 'static> Clone for PeerConnection<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Far(endpoint) => Self::Far(endpoint.clone()),
            Self::Near(link) => Self::Near(link.clone()),
        }
    }
}

impl<T: Transportable + 'static> PeerConnection<T> {
    /// Returns true if both are handles of the same connection.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Far(one), Self::Far(other)) => Arc::ptr_eq(one.shared(), other.shared()),
            (Self::Near(one), Self::Near(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl<T: Transportable + 'static> Membership<T> {
    /// Creates an empty list. `expected` peers have to join.
    pub(super) fn new(expected: usize) -> Self {
        Self {
            peers: Vec::new(),
            next: 0,
            posted: 0,
            sleepers: 0,
            came: 0,
            expected: expected.max(1),
            reserved: 0,
            tasks: WakerList::new(),
        }
    }

    /// Returns true if all expected peers have joined.
    pub(super) fn is_complete(&self) -> bool {
        self.came >= self.expected
    }

    /// Returns true if all expected peers have joined and all peers are gone.
    pub(super) fn is_closed(&self) -> bool {
        self.peers.is_empty() && self.reserved == 0 && self.is_complete()
    }

    /// Returns the next peer to poll, or `None` if a receive is posted to it.
    pub(super) fn next_to_poll(&mut self) -> Option<PeerConnection<T>> {
        let peer = self.advance()?;
        (!peer.posted).then(|| peer.connection.clone())
    }

    /// Returns the next peer in round-robin order.
    pub(super) fn advance(&mut self) -> Option<&mut JoinedPeer<T>> {
        if self.next >= self.peers.len() {
            self.next = 0;
        }
        let place = self.next;
        self.next = place.saturating_add(1);
        self.peers.get_mut(place)
    }
}

/// Snapshot of the peers for a receive.
pub(super) struct PeerSnapshot<T: Transportable + 'static> {
    /// Number of peers. `is_posted` is true if receives are posted to some of them.
    pub(super) count: usize,
    pub(super) is_posted: bool,
    pub(super) is_closed: bool,
    /// The first peer to poll, unless a receive is posted to it.
    pub(super) first: Option<PeerConnection<T>>,
}
