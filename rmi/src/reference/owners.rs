//! Connections to the owners of objects: one for each address, as long as it is used.

use std::collections::BTreeMap;
use std::sync::Mutex;

use jstream_transport::Address;
use jstream_transport::active::WeakPeer;

use crate::client::{ClientOptions, connect};
use crate::error::ConnectError;
use crate::session::Connection;
use crate::sync::lock;

/// Open connections by address.
#[derive(Default)]
pub(crate) struct Owners(Mutex<BTreeMap<String, WeakPeer>>);

impl Owners {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the connection to an address, and connects if there is none.
    pub(crate) fn connect(
        &self,
        address: &Address,
        options: &ClientOptions,
    ) -> Result<Connection, ConnectError> {
        let name = address.to_string();
        let known = lock(&self.0).get(&name).and_then(WeakPeer::upgrade);
        if let Some(peer) = known.filter(|peer| !peer.has_ended()) {
            return Ok(Connection::of(peer));
        }
        let connection = connect(address, options)?;
        let mut known = lock(&self.0);
        known.retain(|_, peer| peer.upgrade().is_some());
        known.insert(name, connection.peer().downgrade());
        Ok(connection)
    }
}
