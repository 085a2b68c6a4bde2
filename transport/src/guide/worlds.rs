//! Worlds: how ranks find each other, and how they end.
//!
//! A [`World`](crate::rank::world::World) is a [`Rank`](crate::rank::Rank) with a beginning and an end: what
//! ranks can do, it can. Who starts its members decides how they come together:
//!
//! | the members are | began by | reach each other |
//! |---|---|---|
//! | threads | [`World::threads`](crate::rank::world::World::threads) | directly |
//! | threads that are to behave as processes, as in a test | [`World::threads_over`](crate::rank::world::World::threads_over) | over any device |
//! | processes that the program starts itself | [`World::processes`](crate::rank::world::World::processes), [`World::spawn`](crate::rank::world::World::spawn) | over shared memory, say |
//! | processes of a launcher, on any hosts | [`World::from_env`](crate::rank::world::World::from_env) | by the cheapest device for each pair |
//! | programs that know their ranks | [`World::join`](crate::rank::world::World::join) | the same |
//!
//! The work is the same function for all:
//!
//! ```
//! use jstream_transport::rank::world::{World, WorldError, WorldOptions};
//! use jstream_transport::rank::{Error, Rank};
//!
//! /// The sum of all ranks' numbers, at each.
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
//! A launcher sets for each process [`JSTREAM_RANK`](crate::rank::world::RANK),
//! [`JSTREAM_SIZE`](crate::rank::world::SIZE) and [`JSTREAM_WORLD`](crate::rank::world::WORLD), where rank 0
//! is:
//!
//! ```text
//! JSTREAM_SIZE=4 JSTREAM_WORLD="tcp://node1:7000 shm://simulation" JSTREAM_RANK=0 ./simulation
//! ```
//!
//! Rank 0 listens on both addresses. Those of its host reach it by shared memory, the others by TCP, and each
//! listens on the same devices for the members above it. A launcher that draws a number and gives it to all as
//! [`JSTREAM_SESSION`](crate::rank::world::SESSION) keeps everybody else out.
//!
//! # How a world ends
//!
//! [`finish`](crate::rank::world::World::finish) returns when all members have called it, and what they had
//! sent to each other before is there. A member that ends without it is [gone](crate::rank::Error::PeerGone)
//! for the others: waits for it end with an error, and their `finish` names it. Whoever started processes hears
//! from it how they ended, too; they never outlive that one.
//!
//! # When there is no world
//!
//! All of it ends within [`timeout`](crate::rank::world::WorldOptions::timeout), at all members, with an error
//! that says which one was the cause: who did not come, came twice, was told another size, went away, or was
//! not reached.
