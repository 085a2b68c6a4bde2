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
//! | a launcher | [`World::from_env`], or [`World::run_from_env`] for several ranks in each process |
//! | the program itself | [`World::run`], [`World::processes`], [`World::threads_over`] |
//!
//! Joining is not authenticated. Rank 0 generates a [`Session`], a random number that the members
//! show to each other. It rejects members that connect to a wrong address by accident. If untrusted
//! peers can reach the addresses, let the launcher tell the members the session
//! ([`WorldOptions::session`]), as [`World::processes`] does.

mod acceptor;
mod children;
mod connections;
mod ending;
mod environment;
mod error;
mod handle;
mod join;
mod limits;
mod lobby;
mod meeting;
mod member;
mod mixed;
mod options;
mod places;
mod processes;
mod reach;
mod roster;
mod seat;
mod session;
mod site;
mod threads;
mod words;

pub use self::connections::Connections;
pub use self::environment::{PARENT, RANK, SESSION, SIZE, THREADS, WORLD};
pub use self::error::{Refusal, WorldError};
pub use self::handle::World;
pub use self::meeting::Meeting;
pub use self::options::WorldOptions;
pub use self::session::Session;

use self::limits::MAX_SIZE;
