//! Worlds: starting and connecting ranks, and ending them.
//!
//! A [`World`](crate::rank::world::World) is a [`Rank`](crate::rank::Rank) that also manages the
//! start and the end of its group. It dereferences to the rank. The choice of the constructor
//! depends on how the members are started:
//!
//! | members | constructor | connected by |
//! |---|---|---|
//! | threads | [`World::threads`](crate::rank::world::World::threads) | no device |
//! | threads that behave like processes, for example in a test | [`World::threads_over`](crate::rank::world::World::threads_over) | any device |
//! | processes that the program starts itself | [`World::processes`](crate::rank::world::World::processes), [`World::spawn`](crate::rank::world::World::spawn) | for example, shared memory |
//! | processes of a launcher, on any hosts | [`World::from_env`](crate::rank::world::World::from_env) | the cheapest device for each pair |
//! | programs that know their ranks | [`World::join`](crate::rank::world::World::join) | the device of the address |
//!
//! The same function can do the work in all of them:
//!
//! ```
//! use jstream_transport::rank::world::{World, WorldError, WorldOptions};
//! use jstream_transport::rank::{Error, Rank};
//!
//! /// Returns the sum of the numbers of all ranks, at each rank.
//! fn sum(rank: &Rank, number: u64) -> Result<u64, Error> {
//!     let (next, before) = ((rank.rank() + 1) % rank.size(), (rank.rank() + rank.size() - 1) % rank.size());
//!     let (mut sum, mut passing) = (number, [number]);
//!     for _ in 1..rank.size() {
//!         let sent = passing;
//!         rank.sendrecv(next, 0, &sent, before, 0, &mut passing)?;
//!         sum += passing[0];
//!     }
//!     Ok(sum)
//! }
//!
//! # fn main() -> Result<(), WorldError> {
//! let options = WorldOptions::default();
//! let work = |world: &World| sum(world, u64::from(world.rank()) + 1).unwrap();
//! assert_eq!(World::threads(4, &options, work)?, [10; 4]);
//! let address = format!("shm://guide-worlds-{}", std::process::id()).parse()?;
//! assert_eq!(World::threads_over(&[address], 4, &options, work)?, [10; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! # On several hosts
//!
//! A launcher sets [`JSTREAM_RANK`](crate::rank::world::RANK),
//! [`JSTREAM_SIZE`](crate::rank::world::SIZE) and [`JSTREAM_WORLD`](crate::rank::world::WORLD) for
//! each process. `JSTREAM_WORLD` has the addresses of rank 0:
//!
//! ```text
//! JSTREAM_SIZE=4 JSTREAM_WORLD="tcp://node1:7000 shm://simulation" JSTREAM_RANK=0 ./simulation
//! ```
//!
//! Rank 0 listens on both addresses. The members on its host connect to it over shared memory, and
//! the others over TCP. Each member also listens on the same devices for the members of higher
//! rank. If the launcher generates a random number and passes it to all members as
//! [`JSTREAM_SESSION`](crate::rank::world::SESSION), processes without that number are rejected.
//!
//! # Ending a world
//!
//! [`finish`](crate::rank::world::World::finish) returns when all members have called it and
//! everything that they sent to each other before has arrived. If a member ends without calling it,
//! the member is [gone](crate::rank::Error::PeerGone) for the others: operations that wait for it
//! fail, and their `finish` names it. The member that started the processes also gets their exit
//! states from `finish`. The processes never outlive that member.
//!
//! # If a world can't be created
//!
//! Creating a world fails at all members, within
//! [`timeout`](crate::rank::world::WorldOptions::timeout). The error names the member that caused
//! it: a member that did not join, joined twice, was given another size, ended, or could not be
//! reached.
