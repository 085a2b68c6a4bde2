//! A registry of several programs: each program finds the objects of the others by name.
//!
//! Every server has the names of its own objects. A [`Registrar`] is an object that has the names
//! of many servers, which may start and stop at any time. The program `jregistry` serves a
//! registrar, and so can any [`Server`](crate::Server). Programs with a server bind its names at
//! the registrar. Programs that look up a name call that server directly; no call passes through
//! the registry.
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
//! // Another program, which listens at any address.
//! let server = Server::default();
//! server.bind::<dyn Adder>("adder", Arc::new(Plain))?;
//! let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
//! let names = Names::connect(registry.address())?;
//! names.bind("adder", &serving)?;
//!
//! // A third program.
//! let adder = Names::connect(registry.address())?.lookup::<dyn Adder>("adder")?;
//! assert_eq!(*adder.add(2, 40).wait()?.get(), 42);
//! # Ok(())
//! # }
//! ```
//!
//! # Lifetime of a name
//!
//! A name is bound until it is unbound, and no longer than the connection that bound it. Names
//! therefore end with the process that bound them, however it ends, and with its last clone of
//! [`Names`]. [Watchers](Names::watch) are notified.
//!
//! # Restarts of the registry
//!
//! When a registry returns after a restart, programs that have bound names reconnect within a few
//! seconds and bind them again. Watchers are notified of the differences. A registry that [keeps
//! its names in a file](Registrar::persistent), as `jregistry serve URI --persist FILE` does,
//! restores them before that. This includes names whose server has gone meanwhile; a
//! [lookup](Names::lookup) detects that
//! ([`LookupError::Unreachable`](crate::LookupError::Unreachable)). All clients that may bind names
//! may [unbind](Names::unbind) or [rebind](Names::rebind) a name whose server has gone.
//!
//! # Who may change names
//!
//! If the registry's server asks for a [secret](crate::ServerOptions::secret), every client that
//! knows it may bind, replace and unbind every name, from any host. Without a secret:
//!
//! - Clients of the same host may bind free names: clients that connect by `inproc`; by `uds` or
//!   `shm` if their process has the registry's user id or is root; and over TCP from a loopback
//!   address. A loopback connection does not tell its user, so on a host with other users either
//!   set a secret or listen at `uds` or `shm` only.
//! - Only the connection that bound a name may replace or unbind it, unless
//!   [`anyone_may_replace`](RegistrarOptions::anyone_may_replace) is set. A name whose binder has
//!   gone, in a registry that keeps its names, may be replaced and unbound by all clients that may
//!   bind names.
//! - A program that has lost its connection binds its names again over a new one. The new
//!   connection becomes the binder when the registry notices the end of the old one. If several
//!   connections have bound the same entry, none of them becomes the binder until one is left:
//!   another program may have repeated the entry to take over the name.
//!
//! All other clients may look names up, list and watch them.
//!
//! # Addresses
//!
//! A server is bound with all addresses at which it listens. A client that looks it up receives the
//! addresses that may be reachable from the client's host, and uses the first one that is. For
//! example, a server that listens at `uds` and at `tcp://0.0.0.0:0` is called over the first on its
//! own host, and over the second from other hosts. In an address for all interfaces, such as
//! `0.0.0.0`, the host is replaced by the address from which the server has bound its names, or by
//! that of the registry if the server is on the registry's host.

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

/// The name to which a [`Registrar`] is bound at its own server, where [`Names`] look for it.
pub const NAME: &str = "jstream.directory";

/// The registration of an object of a server.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Entry {
    /// The name, at the registry and at its server.
    pub name: String,
    /// The name of its interface.
    pub interface: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
    /// The methods of the interface in human-readable form.
    pub description: String,
    /// Addresses of the server, in order of preference.
    pub addresses: Vec<String>,
}

impl Entry {
    /// Returns the entry in the form in which it is sent, with its addresses.
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

/// A change of a name.
#[derive(Transportable, Debug, Clone, PartialEq, Eq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq))]
pub struct Change {
    /// The kind of change.
    pub event: Event,
    /// The name. Empty if the event does not concern a name; then the other fields are empty as
    /// well.
    pub name: String,
    /// The name of the interface of the object that is, or was, bound to the name.
    pub interface: String,
    /// The [id](crate::Interface::id) of the interface.
    pub id: u64,
}

/// Kind of a [`Change`].
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The name is bound. Sent first for all bound names, then for each name that is bound, or
    /// bound to another object.
    Bound,
    /// The name is no longer bound.
    Unbound,
    /// All names that were bound at the beginning have been sent. Changes follow.
    Complete,
    /// The watcher was too slow and has missed changes. The last event.
    Missed,
    /// The registry has no place for the watcher. The last event. The name contains the limit and
    /// the remedy.
    Refused,
}

/// The reason why a name is not bound, or not unbound.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
#[non_exhaustive]
pub enum Refusal {
    /// The name is already bound.
    #[error("the name is bound already; use `rebind` to replace it")]
    Taken,
    /// The caller is on another host and has proved no secret.
    #[error("only programs on the registry's host, or with its secret, may change names")]
    NotAllowed,
    /// The name, the description or an address is too long.
    #[error("the name, description or an address is too long, or there are too many addresses")]
    TooLong,
    /// No address of the server can be reached from other programs.
    #[error("the server listens at no address that others can use")]
    NoAddress,
    /// The connection has bound its maximum number of names.
    #[error("the connection has bound {most} names, its limit (RegistrarOptions::max_names_each)")]
    TooMany {
        /// The maximum.
        most: u64,
    },
    /// The limit of all names is reached.
    #[error("the registry has reached its limit (RegistrarOptions::max_names or max_bytes)")]
    Full,
    /// The change is done, but could not be written to the [file](Registrar::persistent) of the
    /// registry.
    #[error(
        "the change is done, but the registry could not write its file: a restart of the registry undoes it"
    )]
    NotKept,
    /// Another connection has bound the name, and the registry allows only that connection to
    /// replace or unbind it.
    #[error(
        "another program has bound the name; only that program, or one that knows the registry's \
         secret, may replace or unbind it (RegistrarOptions::anyone_may_replace)"
    )]
    NotBinder,
}

/// The names of several servers.
#[remote(crate = crate)]
pub trait Directory {
    /// Binds a name for the lifetime of the caller's connection. If the name is already bound, it
    /// is replaced if `replace` is true or if the entry is the same.
    async fn bind(&self, entry: EntryRef<'_>, replace: bool) -> Result<(), Refusal>;

    /// Frees a name. Returns true if something was bound to it. Fails with [`Refusal::NotBinder`]
    /// if another connection has bound it.
    async fn unbind(&self, name: &str) -> Result<bool, Refusal>;

    /// Returns the entry of a name, with the addresses that may be reachable for the caller.
    #[remote(idempotent)]
    fn lookup(&self, name: &str) -> Option<Entry>;

    /// Returns all names in order.
    #[remote(idempotent)]
    fn list(&self) -> Vec<Bound>;

    /// Returns all bound names, followed by their changes. If the maximum number of watchers is
    /// reached, the stream contains only [`Event::Refused`].
    fn watch(&self) -> Stream<Change>;
}
