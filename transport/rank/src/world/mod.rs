//! Worlds: ranks that find each other within one process, across processes, or across hosts.
//!
//! Rank 0 listens at an address that all members know. The others connect to it in any order, even
//! before it listens, and tell it their own listening addresses. Then rank 0 sends a table with the
//! addresses of all down a tree, in which each rank has at most four children. When all ranks have
//! the table, which they report up the tree, the word that the world is complete goes down. So
//! either all ranks begin, or none. Joining takes rank 0 a short connection for each member, of
//! which it holds at most 64 at a time, and as many steps as the tree has levels.
//!
//! Two ranks are connected when they first need each other (see [`World`]), over the cheapest
//! device on which one reaches the other. Joining leaves the connections of the tree, at most five
//! for each rank. Pairs without a connection use no mappings, descriptors or threads, only some
//! hundred bytes in the tables of each rank.
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
//! | a launcher | [`World::from_env`], or [`World::run_from_env`] for several ranks in each process |
//! | the program itself | [`World::run`], [`World::processes`], [`World::threads_over`] |
//! | ranks that already work | [`World::grow`]; the new processes call [`World::from_env`] |
//!
//! Rank 0 generates a [`Session`], a random number that the members show to each other. It rejects
//! members that connect to a wrong address by accident. If untrusted peers can reach the addresses,
//! let the launcher tell the members the session ([`WorldOptions::session`]), as
//! [`World::processes`] and the launchers of [`World::from_env`] do: every member then refuses
//! peers that do not know it.
//!
//! The session keeps out strangers who can connect, but not those who can read or redirect the
//! packets of the network: without TLS it is sent in clear text, to whoever listens at the address
//! of a member. `SECURITY.md` has the details. Members trust each other further than strangers: the
//! limit [`max_message`](jstream_base::Options::max_message) applies only to messages that are sent
//! before a receive asks for them. A message that a receive asks for has the length of the memory
//! of this receive, or the [limit](crate::Options::object_limits) of what the rank allocates.

mod acceptor;
mod branch;
mod census;
mod children;
mod connections;
mod dialer;
mod ending;
mod environment;
mod error;
mod growth;
mod handle;
mod join;
mod launcher;
mod limits;
mod lobby;
mod meeting;
mod member;
mod mixed;
mod options;
mod pairs;
mod places;
mod processes;
mod reach;
mod request;
mod roster;
mod seat;
mod session;
mod site;
mod starting;
mod threads;
mod tree;
mod variables;
mod words;

pub use self::connections::Connections;
pub use self::error::{Refusal, WorldError};
pub use self::handle::World;
pub use self::meeting::Meeting;
pub use self::options::WorldOptions;
pub use self::session::Session;
pub use self::variables::{
    NEWCOMER, PARENT, RANK, SERVICE, SESSION, SHARERS, SIZE, THREADS, WORLD,
};

use self::limits::MAX_SIZE;
