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
//! | threads of several processes | [`World::run`](crate::rank::world::World::run), [`World::run_from_env`](crate::rank::world::World::run_from_env) | no device within a process, otherwise as above |
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
//! # Several ranks in each process
//!
//! [`World::run`](crate::rank::world::World::run) runs one function at all ranks, with ranks as
//! threads of one process, as processes, or as threads of several processes. Only the two numbers
//! differ:
//!
//! ```no_run
//! use jstream_transport::rank::operation::Sum;
//! use jstream_transport::rank::world::{World, WorldError, WorldOptions};
//!
//! fn main() -> Result<(), WorldError> {
//!     let mut numbers = std::env::args().skip(1).map(|number| number.parse().unwrap_or(1));
//!     let (processes, threads) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(4));
//!     let addresses = ["shm://several".parse()?];
//!     World::run(&addresses, processes, threads, &WorldOptions::default(), |world| {
//!         let mut sum = [0];
//!         world.all_reduce(&[world.rank()], &mut sum, &Sum).unwrap();
//!         println!("rank {} of {}: the sum is {}", world.rank(), world.size(), sum[0]);
//!     })?;
//!     Ok(())
//! }
//! ```
//!
//! # Threads as ranks
//!
//! The ranks of a process are threads, so they share what is `static`: a counter in a `static`
//! counts for all of them, and a lock in it excludes them from each other. A program that was
//! written for processes keeps what belongs to one rank in one of these places instead:
//!
//! | place | one value for each | use it for |
//! |---|---|---|
//! | variables of the function | call | all that can be passed on |
//! | [`rank_local!`](crate::rank::rank_local) | rank, in all its threads | what was `static` in a process |
//! | [`thread_local!`](std::thread_local) | thread, so a thread that a rank starts has another one | caches and buffers |
//! | `static` | process | what the ranks of a process share on purpose |
//!
//! ```
//! use std::sync::Mutex;
//!
//! use jstream_transport::rank::world::{World, WorldError, WorldOptions};
//! use jstream_transport::rank::{Rank, rank_local};
//!
//! rank_local! {
//!     static LOG: Mutex<Vec<String>> = Mutex::default();
//! }
//!
//! fn note(rank: &Rank, text: &str) {
//!     LOG.get(rank).lock().unwrap().push(text.to_owned());
//! }
//!
//! # fn main() -> Result<(), WorldError> {
//! let logs = World::threads(2, &WorldOptions::default(), |world| {
//!     note(world, "begin");
//!     // A thread of the rank names the rank, and has the same log.
//!     std::thread::scope(|scope| scope.spawn(|| note(world, "work")).join().unwrap());
//!     LOG.get(world).lock().unwrap().len()
//! })?;
//! assert_eq!(logs, [2, 2]);
//! # Ok(())
//! # }
//! ```
//!
//! A panic of one rank does not end the process: the others see the rank as gone, and `run` panics
//! when they have ended. `std::process::exit` ends all ranks of the process.
//!
//! # Ranks that also serve
//!
//! [`RankPeers`](crate::RankPeers) makes the ranks of a world peers of [active
//! messages](super::active_messages): each serves its handlers to all others, and
//! `peers.peer(rank)` connects when it is first called. For objects of `jstream-rmi`, or another
//! protocol with listeners of its own, each rank listens at
//! [`service_addresses`](crate::rank::world::World::service_addresses) and tells the others by
//! [`share_addresses`](crate::rank::world::World::share_addresses); the example `objects_by_rank` of
//! `jstream-rmi` does so. A protocol without listeners gets its connections, with the rank at the
//! other side, from [`connections`](crate::rank::world::World::connections).
//!
//! All of these are other connections than those of the ranks, with their own credit and queues. So
//! a rank whose handlers are slow still receives tagged messages, and messages that nobody receives
//! do not stop its handlers.
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
//! rank. With [`JSTREAM_THREADS`](crate::rank::world::THREADS), a process has that many ranks from
//! `JSTREAM_RANK` on, and calls [`World::run_from_env`](crate::rank::world::World::run_from_env).
//! If the launcher generates a random number and passes it to all members as
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
//! [`timeout`](crate::rank::world::WorldOptions::timeout): either all join, or none. The error names
//! the member that caused it: a member that did not join, joined twice, was given another size,
//! ended, or could not be reached.
