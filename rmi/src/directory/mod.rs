//! The registry of several programs: names under which each finds what the others serve.
//!
//! Every server has the names of its own objects. A [`Registrar`] is an object with those of many servers, which may come
//! and go: the program `jregistry` serves one, and so can any [`Server`](crate::Server). Whoever has a server binds its
//! names there, and those who look one up call that server directly; nothing passes through the registry.
//!
//! ```
//! use jstream_rmi::directory::{self, Directory, Names, Registrar};
//! use jstream_rmi::{Server, remote};
//! use std::sync::Arc;
//!
//! #[remote]
//! trait Adder {
//!     fn add(&self, a: i64, b: i64) -> i64;
//! }
//!
//! struct Plain;
//!
//! impl Adder for Plain {
//!     fn add(&self, a: i64, b: i64) -> i64 {
//!         a + b
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // One program, or `jregistry serve`.
//! let registry = Server::default();
//! registry.bind::<dyn Directory>(directory::NAME, Arc::new(Registrar::default()))?;
//! let registry = registry.listen(&"tcp://127.0.0.1:0".parse()?)?;
//!
//! // Another one, which listens anywhere.
//! let server = Server::default();
//! server.bind::<dyn Adder>("adder", Arc::new(Plain))?;
//! let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
//! let names = Names::connect(registry.address())?;
//! names.bind("adder", &serving)?;
//!
//! // A third.
//! let adder = Names::connect(registry.address())?.lookup::<dyn Adder>("adder")?;
//! assert_eq!(*adder.add(2, 40).wait()?.get(), 42);
//! # Ok(())
//! # }
//! ```
//!
//! # How long a name is bound
//!
//! Until it is unbound, and no longer than the connection by which it was bound: names go with the process that
//! bound them, however that ends, and with its last clone of [`Names`]. Whoever [watches](Names::watch) is told.
//!
//! # When the registry is restarted
//!
//! Programs that have bound names connect again when the registry is back, a few seconds later at most, and bind them again;
//! those that watch are told what has changed meanwhile. A registry that [keeps its names in a
//! file](Registrar::persistent), as `jregistry serve URI --persist FILE` does, has them again before: also those whose
//! server has gone in the meantime, which a [lookup](Names::lookup) finds out
//! ([`LookupError::Unreachable`](crate::LookupError::Unreachable)). All clients that may bind names may
//! [unbind](Names::unbind) or [rebind](Names::rebind) a name whose server has gone.
//!
//! # Who may change names
//!
//! If the registry's server asks for a [secret](crate::ServerOptions::secret), every client that knows it may bind,
//! replace and unbind every name, from any host. Without a secret:
//!
//! - Clients of the same host may bind free names: clients that connect by `inproc`; by `uds` or `shm` if their
//!   process has the registry's user id or is root; and over TCP from a loopback address. A loopback connection does not
//!   tell its user, so on a host with other users either set a secret or listen at `uds` or `shm` only.
//! - Only the connection that bound a name may replace or unbind it, unless
//!   [`anyone_may_replace`](RegistrarOptions::anyone_may_replace) is set. A name whose binder has gone, in a registry
//!   that keeps its names, may be replaced and unbound by all clients that may bind names.
//!
//! All other clients may look names up, list and watch them.
//!
//! # Addresses
//!
//! A server is bound with all addresses that it listens at. Whoever looks it up gets those that may lead there from where
//! it is, and takes the first that does: a server that listens at `uds` and at `tcp://0.0.0.0:0` is called by the first on
//! its own host and by the second from elsewhere. What listens at all addresses of its host is named by the one that it has
//! bound its names from, or by the registry's, where it is on that host.

mod changes;
mod link;
mod names;
mod places;
mod registrar;
mod saved;
mod watching;

pub use self::changes::Changes;
pub use self::names::{DirectoryError, Names};
pub use self::registrar::{Registrar, RegistrarOptions};
pub use self::saved::PersistError;

use jstream::Transportable;
use jstream_derive::remote;

use crate::reflection::Bound;
use crate::stream::Stream;

/// The name that a [`Registrar`] is bound to at its own server, where [`Names`] look for it.
pub const NAME: &str = "jstream.directory";

/// An object of some server.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Entry {
    /// The name, here and at its server.
    pub name: String,
    /// The name of its interface.
    pub interface: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
    /// Its methods, for people.
    pub description: String,
    /// Where its server listens, the one to be preferred first.
    pub addresses: Vec<String>,
}

impl Entry {
    /// It as it is sent, with its addresses.
    fn borrowed<'e>(&'e self, addresses: &'e [&'e str]) -> EntryRef<'e> {
        EntryRef {
            name: &self.name,
            interface: &self.interface,
            id: self.id,
            description: &self.description,
            addresses,
        }
    }
}

/// Something has happened to a name.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Change {
    /// What.
    pub event: Event,
    /// The name; empty where it is none that something has happened to, as is the rest.
    pub name: String,
    /// The name of the interface of what is, or was, bound to it.
    pub interface: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
}

/// What has happened to a name.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// It is bound: at the beginning all that are, and then each that is bound, or bound to something else.
    Bound,
    /// It is bound no more.
    Unbound,
    /// All names that were bound at the beginning have been told: what comes now are changes.
    Complete,
    /// There were more changes than the watcher took in time: the last that it gets.
    Missed,
    /// The registry has no place for the watcher: the last that it gets. The name says which limit that is, and what to do.
    Refused,
}

/// Why a name is not bound, or not unbound.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
#[non_exhaustive]
pub enum Refusal {
    /// Something is bound to the name already.
    #[error("it is bound already; use `rebind` to replace it")]
    Taken,
    /// The caller is on another host, and has proved no secret.
    #[error("only programs of the registry's host, or with its secret, may change names")]
    NotAllowed,
    /// The name, the description or an address is longer than it may be.
    #[error("its name, description or an address is too long, or there are too many addresses")]
    TooLong,
    /// No address leads to its server from elsewhere.
    #[error("its server listens at no address that others can use")]
    NoAddress,
    /// The connection has bound as many names as it may.
    #[error("one program may bind {most} names")]
    TooMany {
        /// How many that are.
        most: u64,
    },
    /// The registry has no room for more.
    #[error("the registry is full")]
    Full,
    /// It is done, but could not be written to the file that the registry [keeps](Registrar::persistent) its names in.
    #[error(
        "it is done, but the registry can't write its file: after a restart of the registry it is undone"
    )]
    NotKept,
    /// Another connection has bound the name, and the registry lets only that one replace or unbind it.
    #[error(
        "another program has bound it, and only that one, or a program that knows the registry's secret, may replace or unbind \
         it (RegistrarOptions::anyone_may_replace)"
    )]
    NotBinder,
}

/// The names of several servers.
#[remote(crate = crate)]
pub trait Directory {
    /// Binds a name as long as the caller's connection lasts; in the place of what was bound to it, if `replace` says so, or if
    /// that is the same.
    async fn bind(&self, entry: EntryRef<'_>, replace: bool) -> Result<(), Refusal>;

    /// Frees a name. Returns true if something was bound to it. Fails with [`Refusal::NotBinder`] if another
    /// connection has bound it.
    async fn unbind(&self, name: &str) -> Result<bool, Refusal>;

    /// What is bound to a name, with the addresses that may lead there for the caller.
    #[remote(idempotent)]
    fn lookup(&self, name: &str) -> Option<Entry>;

    /// All names, in order.
    #[remote(idempotent)]
    fn list(&self) -> Vec<Bound>;

    /// All names that are bound, and then what happens to them. [`Event::Refused`] where as many watch as may.
    fn watch(&self) -> Stream<Change>;
}
