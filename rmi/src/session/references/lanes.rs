//! Lanes: further connections of a client, which may call the same objects as its first one.

use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;

use crate::session::connection::Connection;
use crate::session::references::key::Key;
use crate::session::references::table::References;
use crate::support::lock;

/// Connections that lanes may join, by their keys.
#[derive(Default)]
pub(crate) struct Lanes(Mutex<FxHashMap<Key, Weak<References>>>);

impl Lanes {
    /// Returns the key of a connection, which never changes. `None` if the system provides no
    /// random numbers.
    pub(crate) fn key(&self, of: &Connection) -> Option<Key> {
        let references = of.references();
        let mut known = None;
        // One key for the life of the connection, so that a client which asks again and again can't
        // fill the table.
        let key = references.key.get_or_init(|| {
            known = Key::new();
            known
        });
        if let Some(key) = known {
            let mut lanes = lock(&self.0);
            // Entries of connections that have ended go when one is added, so the table does not
            // grow with each client that once had a lane.
            lanes.retain(|_, lane| lane.strong_count() > 0);
            // Weak: the key must not keep the references of a connection that has ended.
            lanes.insert(key, Arc::downgrade(references));
        }
        *key
    }

    pub(crate) fn find(&self, key: Key) -> Option<Arc<References>> {
        lock(&self.0).get(&key)?.upgrade()
    }
}
