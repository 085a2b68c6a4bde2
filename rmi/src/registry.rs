//! The names of a server's objects: itself a remote object, number 0 of every server.

use std::sync::{Arc, Weak};

use jstream::Transportable;
use jstream_derive::remote;

use crate::context::context;
use crate::exports::{Exports, Node};
use crate::reference::{As, Key};
use crate::session::Connection;

/// The number of every server's registry.
pub(crate) const REGISTRY: u32 = 0;

/// What a name stands for.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Found<'b> {
    /// An object of the interface asked for.
    Object {
        /// Its number.
        number: u32,
    },
    /// Nothing.
    Unknown,
    /// An object of another interface: its name and methods.
    Other(&'b str),
}

/// Finds objects by name.
#[remote(crate = crate)]
pub trait Registry {
    /// What is bound to `name`, if its interface has the id `interface`.
    fn lookup(&self, name: &str, interface: u64) -> Found<'_>;

    /// All names that are bound, in order.
    fn list(&self) -> Vec<String>;

    /// What somebody offers by a key, if its interface has the id `interface`.
    #[doc(hidden)]
    fn claim(&self, key: [u64; 2], interface: u64) -> Found<'_>;

    /// A key by which other connections of the caller join this one.
    #[doc(hidden)]
    fn lane(&self) -> Option<[u64; 2]>;

    /// Joins the connection that has this key: it may call what that one may.
    #[doc(hidden)]
    fn join(&self, key: [u64; 2]) -> bool;
}

/// The registry of one server.
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

/// The connection of the call that is answered.
fn caller() -> Option<Connection> {
    Some(Connection::of(context().call?.peer()))
}

/// Gives an object to the caller, if it is one of that interface.
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
