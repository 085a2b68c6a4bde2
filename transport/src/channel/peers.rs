//! The list of those on the other side.

use std::sync::Arc;
use std::task::Waker;

use jstream::Transportable;

use super::near::Link;
use crate::endpoint::Endpoint;

/// Those who have joined, and those who are waited for.
pub(super) struct State<T: Transportable + 'static> {
    pub(super) peers: Vec<Peer<T>>,
    /// Whose turn it is.
    pub(super) next: usize,
    /// How many receives are posted.
    pub(super) posted: usize,
    /// How many threads and tasks rely on the queue to tell them what comes.
    pub(super) sleepers: usize,
    /// How many have joined, and how many have to.
    pub(super) came: usize,
    pub(super) expected: usize,
    /// How many are about to be told that they have joined.
    pub(super) welcome: usize,
    /// Tasks that wait for somebody to join.
    pub(super) tasks: Vec<Waker>,
}

pub(super) struct Peer<T: Transportable + 'static> {
    pub(super) way: Way<T>,
    /// A receive is posted to it.
    pub(super) posted: bool,
}

/// How objects get to a peer, or from it.
pub(super) enum Way<T: Transportable + 'static> {
    Far(Endpoint),
    /// It is in this process.
    Near(Arc<Link<T>>),
}

impl<T: Transportable + 'static> Clone for Way<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Far(endpoint) => Self::Far(endpoint.clone()),
            Self::Near(link) => Self::Near(link.clone()),
        }
    }
}

impl<T: Transportable + 'static> Way<T> {
    /// Whether the two are ends of one connection.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Far(one), Self::Far(other)) => Arc::ptr_eq(one.shared(), other.shared()),
            (Self::Near(one), Self::Near(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl<T: Transportable + 'static> State<T> {
    /// So many have to join.
    pub(super) fn new(expected: usize) -> Self {
        Self {
            peers: Vec::new(),
            next: 0,
            posted: 0,
            sleepers: 0,
            came: 0,
            expected: expected.max(1),
            welcome: 0,
            tasks: Vec::new(),
        }
    }

    /// Whether all have joined who have to.
    pub(super) fn is_complete(&self) -> bool {
        self.came >= self.expected
    }

    /// And all are gone.
    pub(super) fn is_closed(&self) -> bool {
        self.peers.is_empty() && self.welcome == 0 && self.is_complete()
    }

    /// Whom to look at next, unless a receive is posted to it.
    pub(super) fn look_at(&mut self) -> Option<Way<T>> {
        let peer = self.turn()?;
        (!peer.posted).then(|| peer.way.clone())
    }

    /// Whose turn it is.
    pub(super) fn turn(&mut self) -> Option<&mut Peer<T>> {
        if self.next >= self.peers.len() {
            self.next = 0;
        }
        let place = self.next;
        self.next = place.saturating_add(1);
        self.peers.get_mut(place)
    }
}

/// What a side that receives finds.
pub(super) struct Sight<T: Transportable + 'static> {
    /// How many peers there are, and whether receives are posted to some.
    pub(super) count: usize,
    pub(super) is_posted: bool,
    pub(super) is_closed: bool,
    /// Whom to look at first, unless a receive is posted to it.
    pub(super) first: Option<Way<T>>,
}
