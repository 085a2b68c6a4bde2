//! The handle of a world.

use jstream_base::events::emit;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;
use tracing::Level;

use super::children::Children;
use super::ending::goodbye;
use super::error::WorldError;
use super::options::WorldOptions;
use super::site::Site;
use crate::Rank;
use crate::node::Link;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;

/// A rank that reaches all other ranks of its world.
///
/// Two ranks are connected when they first need each other: when one of them sends to the other, or
/// has waited for a message of it for 10 ms. A receive or probe from any source connects to all
/// members of its communicator, so that it ends when all of them are gone; so does
/// [`revoke`](crate::Recovery::revoke). A task connects as soon as it is polled. The call that needs
/// the connection blocks until it exists, or until [`WorldOptions::timeout`] has passed: a rank
/// that can't be connected to is [gone](crate::Error::PeerGone).
///
/// Two ranks without a connection share no memory, descriptors or threads. A rank has connections
/// to at most five others from the start, its neighbours in the tree over which the world is
/// joined. It listens in a thread of its own, which refuses everybody but members, and each member
/// a second connection.
///
/// Dropping it ends the rank. Call [`finish`](Self::finish) instead if messages may still be in
/// transit.
pub struct World {
    rank: Rank,
    /// Handle of this rank in a separate context, for goodbye messages.
    ending: Rank,
    pub(super) site: Site,
    finish_timeout: Duration,
    /// Dropped last, so that messages that the processes still send are received before they are
    /// killed.
    pub(super) children: Vec<Children>,
}

impl World {
    pub(super) fn new(rank: Rank, site: Site, options: &WorldOptions) -> Self {
        Self {
            ending: rank.in_ending_context(),
            rank,
            site,
            finish_timeout: options.finish_timeout,
            children: Vec::new(),
        }
    }

    /// Returns the connection to another rank, for access to its counters, its limits and its
    /// exposed memory. If there is none yet, this opens it. Messages over it are reserved for the
    /// ranks. `None` for this rank, for threads that are reached directly, and for a rank that
    /// can't be connected to because it is gone.
    #[must_use]
    pub fn endpoint(&self, rank: u32) -> Option<&Endpoint> {
        match self.rank.node().link(rank) {
            Ok(Link::Line(line)) => Some(&line.endpoint),
            _ => None,
        }
    }

    /// Ends the world after everything that was sent has been delivered: announces to all members
    /// that nothing more is sent, and waits until they have done so too. If this rank has started
    /// the other processes, it waits for these as well. [`WorldOptions::finish_timeout`] limits
    /// both.
    ///
    /// # Errors
    ///
    /// [`WorldError::Unfinished`] lists the members that did not say goodbye in time or were lost
    /// before. [`WorldError::Children`] lists the processes that did not succeed.
    pub fn finish(self) -> Result<(), WorldError> {
        let timeout = self.finish_timeout;
        self.finish_within(timeout)
    }

    /// Like [`finish`](Self::finish), for at most `timeout`.
    ///
    /// # Errors
    ///
    /// As for [`finish`](Self::finish).
    pub fn finish_within(mut self, timeout: Duration) -> Result<(), WorldError> {
        let until = Deadline::after(timeout);
        // Goodbyes come before the connections are shut down: they prove that all messages before
        // them have arrived.
        let lost = goodbye(&self.ending, until, timeout);
        // The clean shutdown tells connected peers that this rank was not lost.
        if let Err(error) = self.rank.node().finish_lines() {
            emit(Level::DEBUG, move || {
                tracing::debug!(%error, "can't shut down a connection");
            });
        }
        let children = std::mem::take(&mut self.children).into_iter();
        let ends: Vec<_> = children
            .flat_map(|children| children.finish(until))
            .collect();
        if !ends.is_empty() {
            return Err(WorldError::Children { ends });
        }
        let Some(reason) = lost.values().next().cloned() else {
            return Ok(());
        };
        Err(WorldError::Unfinished {
            ranks: lost.into_keys().collect(),
            after: timeout,
            reason,
        })
    }
}

impl Deref for World {
    type Target = Rank;

    fn deref(&self) -> &Rank {
        &self.rank
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("rank", &self.rank())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}
