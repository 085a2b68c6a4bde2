//! The remote trait of a registry, and the values that it exchanges.

use jstream::Transportable;
use jstream_derive::remote;

use crate::call::Bound;
use crate::stream::Stream;

/// The name to which a [`Registrar`](crate::directory::Registrar) is bound at its own server, where
/// [`Names`](crate::directory::Names) look for it.
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
    pub(super) fn borrowed<'e>(&'e self, addresses: &'e [&'e str]) -> EntryRef<'e> {
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
#[derive(
    Transportable, jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq, thiserror::Error,
)]
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
    /// The change is done, but could not be written to the
    /// [file](crate::directory::Registrar::persistent) of the registry.
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
    /// The name has several servers, and the caller does not have its key.
    #[error("the name is shared, and its key is another one; bind it with the key of its servers")]
    WrongKey,
    /// The key is too short or too long.
    #[error("the key of a shared name must have 16 to 256 bytes")]
    KeyLength,
    /// The name has its maximum number of servers.
    #[error("the name has {most} servers, its limit (RegistrarOptions::max_servers)")]
    TooManyServers {
        /// The maximum.
        most: u64,
    },
}

/// The names of several servers.
#[remote(crate = crate)]
pub trait Directory {
    /// Binds a name for the lifetime of the caller's connection. If the name is already bound, it
    /// is replaced if `replace` is true or if the entry is the same.
    async fn bind(&self, entry: EntryRef<'_>, replace: bool) -> Result<(), Refusal>;

    /// Binds a name that several servers may have, like [`bind`](Self::bind). The first caller
    /// declares the key, and all others have to show the same one.
    async fn bind_shared(&self, entry: EntryRef<'_>, key: &[u8]) -> Result<(), Refusal>;

    /// Frees a name. Returns true if something was bound to it. Fails with [`Refusal::NotBinder`]
    /// if another connection has bound it.
    async fn unbind(&self, name: &str) -> Result<bool, Refusal>;

    /// Returns the entry of a name, with the addresses that may be reachable for the caller.
    #[remote(idempotent)]
    fn lookup(&self, name: &str) -> Option<Entry>;

    /// Returns the entries of all servers of a name, like [`lookup`](Self::lookup).
    #[remote(idempotent)]
    fn servers(&self, name: &str) -> Vec<Entry>;

    /// Returns all names in order.
    #[remote(idempotent)]
    fn list(&self) -> Vec<Bound>;

    /// Returns all bound names, followed by their changes. If the maximum number of watchers is
    /// reached, the stream contains only [`Event::Refused`].
    fn watch(&self) -> Stream<Change>;
}
