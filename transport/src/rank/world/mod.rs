//! Worlds: ranks that find each other, in one process, in many, or on many hosts.
//!
//! Rank 0 listens at an address that all know. The others connect to it, in any order and before it is there;
//! each tells it where it listens itself, gets a table of all, and connects to those of lower rank. So there is
//! one endpoint for each pair, of the cheapest device that works for the two.
//!
//! ```
//! use jstream_transport::rank::world::{World, WorldOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let address = format!("shm://world-{}", std::process::id()).parse()?;
//! let worlds = std::thread::scope(|scope| {
//!     // As a rule these are processes.
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
//! | who starts the members | what each calls |
//! |---|---|
//! | several programs, or a person | [`World::join`], or [`World::join_cheapest`] with an address for each device |
//! | a launcher | [`World::from_env`] |
//! | the program itself | [`World::processes`], [`World::threads_over`] |
//!
//! Joining is not authenticated. Rank 0 draws a [`Session`], a random number that each member shows to the
//! others: it keeps those out who come to a wrong address by accident. Where strangers can reach the addresses,
//! let who starts the members tell them the session ([`WorldOptions::session`]), as [`World::processes`] does.

mod children;
mod door;
mod ending;
mod environment;
mod error;
mod hall;
mod meeting;
mod member;
mod options;
mod places;
mod processes;
mod reach;
mod roll;
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
use crate::address::Address;
use crate::device::deadline::Deadline;
use crate::endpoint::Endpoint;
use crate::rank::{Mesh, Rank};

/// How many ranks a world has at most. Answers the threat of tables without end.
const MAX_SIZE: u32 = 1 << 16;

/// How long those who are told that there is no world are waited for.
const GOODBYE: Duration = Duration::from_millis(500);

/// All ranks, as one of them sees them: connected to each other.
///
/// It ends when it is dropped. [`finish`](Self::finish) it instead where messages may be on their way.
pub struct World {
    rank: Rank,
    /// The same in a context of its own, for goodbyes.
    ending: Rank,
    /// By rank; there is none to this one, nor to threads that are reached directly.
    endpoints: Vec<Option<Endpoint>>,
    finish_timeout: Duration,
    /// Dropped last: what they may still say comes before their end.
    children: Option<Children>,
}

impl World {
    /// Joins the world whose rank 0 listens at `address`, as `rank` of `size`. Rank 0 itself listens there; the
    /// others wait for it. Returns when all are there and connected.
    ///
    /// # Errors
    ///
    /// [`WorldError`]: within [`WorldOptions::timeout`], on all ranks.
    pub fn join(
        address: &Address,
        rank: u32,
        size: u32,
        options: &WorldOptions,
    ) -> Result<Self, WorldError> {
        Self::join_cheapest(std::slice::from_ref(address), rank, size, options)
    }

    /// As [`join`](Self::join), where rank 0 listens on all of `addresses`. The members listen on the same
    /// devices, and each pair is connected by the cheapest that works: ranks of one host by shared memory, say,
    /// and others by TCP. Give all the same addresses.
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

    /// The connection to another rank, for its counters and limits, and for memory that is exposed there: what
    /// is sent over it belongs to the ranks. `None` for this rank, and for threads that are reached directly.
    #[must_use]
    pub fn endpoint(&self, rank: u32) -> Option<&Endpoint> {
        let place = usize::try_from(rank).ok()?;
        self.endpoints.get(place)?.as_ref()
    }

    /// Ends the world so that all that was sent is delivered: says to all that nothing more comes, and waits
    /// until they have said so, too. Who started the others waits for their processes, which
    /// [`WorldOptions::finish_timeout`] bounds, too.
    ///
    /// # Errors
    ///
    /// [`WorldError::Unfinished`] names those who did not say goodbye in time, or were lost before;
    /// [`WorldError::Children`] the processes that did not end well.
    pub fn finish(self) -> Result<(), WorldError> {
        let timeout = self.finish_timeout;
        self.finish_within(timeout)
    }

    /// As [`finish`](Self::finish), for so long at most.
    ///
    /// # Errors
    ///
    /// As for [`finish`](Self::finish).
    pub fn finish_within(mut self, timeout: Duration) -> Result<(), WorldError> {
        let until = Deadline::after(timeout);
        let lost = goodbye(&self.ending, until);
        // Whoever is connected sees by it that this rank was not lost.
        for (rank, endpoint) in (0u32..).zip(&self.endpoints) {
            let said = endpoint.as_ref().map(Endpoint::finish);
            if let Some(Err(error)) = said.filter(|_| !lost.contains_key(&rank)) {
                tracing::debug!(rank, %error, "no farewell");
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
