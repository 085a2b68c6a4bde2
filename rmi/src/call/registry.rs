//! The registry: the names of a server's objects. It is itself a remote object, number 0 of every
//! server.

use jstream::Transportable;
use jstream_derive::remote;

/// Result of looking up a name.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Found<'b> {
    /// An object of the requested interface.
    Object {
        /// The number of the object.
        number: u32,
    },
    /// No object.
    Unknown,
    /// An object of another interface, with the name and the methods of that interface.
    Other(&'b str),
}

/// Finds objects by name.
#[remote(crate = crate)]
pub trait Registry {
    /// Returns the object that is bound to `name`, if its interface has the id `interface`.
    fn lookup(&self, name: &str, interface: u64) -> Found<'_>;

    /// Returns all bound names, in order.
    fn list(&self) -> Vec<String>;

    /// Returns the object that is offered under a key, if its interface has the id `interface`.
    #[doc(hidden)]
    fn claim(&self, key: [u64; 2], interface: u64) -> Found<'_>;

    /// Returns a key by which further connections of the caller can join this one.
    #[doc(hidden)]
    fn lane(&self) -> Option<[u64; 2]>;

    /// Joins the connection that has this key, and gets the same access to objects. Returns false
    /// if there is none.
    #[doc(hidden)]
    fn join(&self, key: [u64; 2]) -> bool;
}
