//! The registry: the names of a server's objects. It is itself a remote object, number 0 of every
//! server.

use std::sync::{Arc, Weak};

use jstream::Transportable;
use jstream_derive::remote;

use crate::context::context;
use crate::exports::{Exports, Node};
use crate::reference::{As, Key};
use crate::session::Connection;

/// The object number of every server's registry.
pub(crate) const REGISTRY: u32 = 0;

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

/// The registry object of one server.
pub(crate) struct Names {
    pub(crate) exports: Weak<Exports>,
}

impl Registry for Names {
    fn lookup(&self, name: &str, interface: u64) -> Found<'_> {
        let node = self.exports.upgrade().and_then(|all| all.named(name));
        found(node, interface, As::Name)
    }

    fn list(&self) -> Vec<String> {
        self.exports
            .upgrade()
            .map(|all| all.names())
            .unwrap_or_default()
    }

    fn claim(&self, key: [u64; 2], interface: u64) -> Found<'_> {
        let node = self.exports.upgrade().and_then(|all| {
            let now = caller()?.references().now();
            all.offers.take(Key::of_words(key), now)
        });
        found(node, interface, As::Result)
    }

    fn lane(&self) -> Option<[u64; 2]> {
        let key = self.exports.upgrade()?.lanes.key(&caller()?)?;
        Some(key.words())
    }

    fn join(&self, key: [u64; 2]) -> bool {
        let joined = || {
            let of = self.exports.upgrade()?.lanes.of(Key::of_words(key))?;
            caller()?.session().join(of.clone())?;
            of.results.have_lane();
            Some(())
        };
        joined().is_some()
    }
}

/// Returns the connection of the call that this thread is answering.
fn caller() -> Option<Connection> {
    Some(Connection::of(context().call?.peer()))
}

/// Gives the caller a reference to an object, if the object has the requested interface.
fn found(node: Option<Arc<Node>>, interface: u64, how: As) -> Found<'static> {
    let (Some(node), Some(caller)) = (node, caller()) else {
        return Found::Unknown;
    };
    if node.interface().id() != interface {
        return Found::Other(node.interface().description());
    }
    match caller.references().give(&caller, &node, how) {
        Some(number) => Found::Object { number },
        None => Found::Unknown,
    }
}
