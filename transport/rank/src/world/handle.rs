//! The handle of a world.

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

use super::children::Children;
use super::ending::goodbye;
use super::error::WorldError;
use super::options::WorldOptions;
use super::seat::Seat;
use super::site::Site;
use crate::Rank;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;

/// A rank that is connected to all other ranks of its world.
///
/// Dropping it ends the rank. Call [`finish`](Self::finish) instead if messages may still be in
/// transit.
pub struct World {
    rank: Rank,
    /// Handle of this rank in a separate context, for goodbye messages.
    ending: Rank,
    /// Endpoints by rank. `None` for this rank, and for threads that are reached directly.
    endpoints: Vec<Option<Endpoint>>,
    pub(super) site: Site,
    finish_timeout: Duration,
    /// Dropped last, so that messages that the processes still send are received before they are
    /// killed.
    pub(super) children: Option<Children>,
}

impl World {
    pub(super) fn new(
        seat: Seat,
        others: impl IntoIterator<Item = (u32, Endpoint)>,
        site: Site,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        let mut endpoints: Vec<_> = (0..seat.size).map(|_| None).collect();
        let (near, mut mesh) = seat.into_parts();
        for (rank, endpoint) in others {
            if near.contains(&rank) {
                // The connection served for joining only.
                if let Err(error) = endpoint.finish() {
                    tracing::debug!(rank, %error, "can't shut down the connection");
                }
                continue;
            }
            let place = usize::try_from(rank).ok();
            if let Some(place) = place.and_then(|place| endpoints.get_mut(place)) {
                *place = Some(endpoint.clone());
                mesh = mesh.endpoint(rank, endpoint)?;
            }
        }
        Ok(Self::of(mesh.build(), endpoints, site, options))
    }

    pub(super) fn of(
        rank: Rank,
        endpoints: Vec<Option<Endpoint>>,
        site: Site,
        options: &WorldOptions,
    ) -> Self {
        Self {
            ending: rank.in_ending_context(),
            rank,
            endpoints,
            site,
            finish_timeout: options.finish_timeout,
            children: None,
        }
    }

    /// Returns the connection to another rank, for access to its counters, its limits and its
    /// exposed memory. Messages over it are reserved for the ranks. `None` for this rank, and for
    /// threads that are reached directly.
    #[must_use]
    pub fn endpoint(&self, rank: u32) -> Option<&Endpoint> {
        let place = usize::try_from(rank).ok()?;
        self.endpoints.get(place)?.as_ref()
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
        let lost = goodbye(&self.ending, until);
        // The clean shutdown tells connected peers that this rank was not lost.
        for (rank, endpoint) in (0u32..).zip(&self.endpoints) {
            let said = endpoint.as_ref().map(Endpoint::finish);
            if let Some(Err(error)) = said.filter(|_| !lost.contains_key(&rank)) {
                tracing::debug!(rank, %error, "can't shut down the connection");
            }
        }
        if let Some(children) = self.children.take() {
            let ends = children.finish(until);
            if !ends.is_empty() {
                return Err(WorldError::Children { ends });
            }
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
