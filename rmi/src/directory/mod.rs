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
//! let names = Names::connect(registry.address()).wait()?;
//! names.bind("adder", &serving).wait()?;
//!
//! // A third program.
//! let adder = Names::connect(registry.address()).wait()?.lookup::<dyn Adder>("adder").wait()?;
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
//! # Names with several servers
//!
//! A name has one server, unless the first binder declares it shared
//! ([`Names::bind_shared`]) with a key. Clients that may bind names, and show the same key, add
//! their servers; each may remove its own. Without the key, none of the clients above may join,
//! replace or unbind the name, except those that may replace every name. The name is bound until
//! its last server has gone. [`RegistryNames`](crate::RegistryNames) has all servers as members,
//! and a [lookup](Names::lookup) finds the first one. A registry that was restarted does not know
//! keys: the first program that binds the name again declares it.
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
mod kept;
mod link;
mod names;
mod options;
mod places;
mod protocol;
mod registrar;
mod saved;
mod shared;
mod watching;

pub use self::changes::Changes;
pub use self::names::{DirectoryError, Names};
pub use self::options::RegistrarOptions;
pub use self::protocol::{
    Change, ChangeRef, Directory, DirectoryStub, Entry, EntryRef, Event, NAME, Refusal,
};
pub use self::registrar::Registrar;
pub use self::saved::PersistError;
