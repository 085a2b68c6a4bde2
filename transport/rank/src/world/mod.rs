//! Worlds: ranks that find each other within one process, across processes, or across hosts.
//!
//! Rank 0 listens at an address that all members know. The others connect to it in any order, even
//! before it listens. Each of them tells rank 0 its own listening addresses, receives a table with
//! the addresses of all, and connects to the members of lower rank. So each pair shares one
//! endpoint, over the cheapest device that works for both.
//!
//! ```
//! use jstream_transport::rank::world::{World, WorldOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = format!("shm://world-{}", std::process::id()).parse()?;
//! let worlds = std::thread::scope(|scope| {
//!     // The members are usually processes.
//!     let joining = [2, 0, 1].map(|rank| {
//!         let address = &address;
//!         scope.spawn(move || World::join(address, rank, 3, &WorldOptions::default()))
//!     });
//!     joining.map(|world| world.join().unwrap())
//! });
//! for world in worlds {
//!     assert_eq!(world?.size(), 3);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | members are started by | function that each calls |
//! |---|---|
//! | several programs, or a person | [`World::join`], or [`World::join_cheapest`] with an address for each device |
//! | a launcher | [`World::from_env`] |
//! | the program itself | [`World::processes`], [`World::threads_over`] |
//!
//! Joining is not authenticated. Rank 0 generates a [`Session`], a random number that the members
//! show to each other. It rejects members that connect to a wrong address by accident. If untrusted
//! peers can reach the addresses, let the launcher tell the members the session
//! ([`WorldOptions::session`]), as [`World::processes`] does.

mod acceptor;
mod children;
mod ending;
mod environment;
mod error;
mod lobby;
mod meeting;
mod member;
mod options;
mod places;
mod processes;
mod reach;
mod roster;
mod session;
mod threads;
mod words;

use std::fmt;
use std::ops::Deref;
use std::time::Duration;

pub use self::environment::{PARENT, RANK, SESSION, SIZE, WORLD};
pub use self::error::{Refusal, WorldError};
pub use self::meeting::Meeting;
pub use self::options::WorldOptions;
pub use self::session::Session;

use self::children::Children;
use self::ending::goodbye;
use self::member::Joining;
use crate::{Mesh, Rank};
use jstream_base::Address;
use jstream_device::deadline::Deadline;
use jstream_endpoint::Endpoint;

/// Maximum number of ranks of a world. Limits the size of the tables of addresses.
const MAX_SIZE: u32 = 1 << 16;

/// Time for which a member waits for others to close when the world can't be created.
const GOODBYE: Duration = Duration::from_millis(500);

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
    finish_timeout: Duration,
    /// Dropped last, so that messages that the processes still send are received before they are
    /// killed.
    children: Option<Children>,
}

impl World {
    /// Joins the world whose rank 0 listens at `address`, as `rank` of `size`. Rank 0 itself
    /// listens there; the others wait for it. Returns when all members have joined and are
    /// connected.
    ///
    /// # Errors
    ///
    /// [`WorldError`] on all ranks, within [`WorldOptions::timeout`].
    pub fn join(
        address: &Address,
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        Self::join_cheapest(std::slice::from_ref(address), rank, size, options)
    }

    /// Like [`join`](Self::join), where rank 0 listens on all of `addresses`. The members listen on
    /// the same devices, and each pair is connected by the cheapest one that works: for example,
    /// ranks on one host by shared memory, and others by TCP. All members must be given the same
    /// addresses.
    ///
    /// # Errors
    ///
    /// As for [`join`](Self::join).
    pub fn join_cheapest(
        addresses: &[Address],
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        check_size(size)?;
        if rank >= size {
            return Err(WorldError::NoRank { rank, size });
        }
        if addresses.is_empty() {
            return Err(WorldError::NoAddress);
        }
        if rank == 0 {
            return Meeting::open(addresses, size, options)?.join();
        }
        let joining = Joining {
            addresses,
            rank,
            size,
            options,
            until: Deadline::after(options.timeout),
        };
        joining.join()
    }

    fn new(
        rank: u32,
        size: u32,
        others: impl IntoIterator<Item = (u32, Endpoint)>,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        let mut endpoints: Vec<_> = (0..size).map(|_| None).collect();
        let mut mesh = Mesh::new(rank, size, &options.rank);
        for (rank, endpoint) in others {
            let place = usize::try_from(rank).ok();
            if let Some(place) = place.and_then(|place| endpoints.get_mut(place)) {
                *place = Some(endpoint.clone());
                mesh = mesh.endpoint(rank, endpoint)?;
            }
        }
        Ok(Self::of(mesh.build(), endpoints, options))
    }

    fn of(rank: Rank, endpoints: Vec<Option<Endpoint>>, options: &WorldOptions) -> Self {
        Self {
            ending: rank.duplicate(),
            rank,
            endpoints,
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

fn check_size(size: u32) -> Result<(), WorldError> {
    if (1..=MAX_SIZE).contains(&size) {
        return Ok(());
    }
    Err(WorldError::BadSize {
        size,
        max: MAX_SIZE,
    })
}
