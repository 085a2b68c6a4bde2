//! The registry object of a server.

use std::sync::{Arc, Weak};

use crate::call::{Claimed, Found, Registry};
use crate::session::{As, Connection, Exports, Key, Node, context};

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

    fn claim(&self, id: [u64; 2], nonce: [u64; 4], proof: [u64; 4], interface: u64) -> Claimed<'_> {
        let claimed = self.exports.upgrade().and_then(|all| {
            let now = caller()?.references().now();
            all.offers.take(id, nonce, proof, now)
        });
        let (node, proof) = claimed.unzip();
        Claimed {
            proof: proof.unwrap_or_default(),
            found: found(node, interface, As::Result),
        }
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

    fn offer(&self, id: [u64; 2]) -> Option<[u64; 4]> {
        let now = caller()?.references().now();
        self.exports.upgrade()?.offers.nonce(id, now)
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
