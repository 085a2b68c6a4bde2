//! The handle of a connection.

use std::fmt;

use jstream_active::Peer;

/// Handle of a connection, by which calls are made.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(super) peer: Peer,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.peer).finish()
    }
}

impl Connection {
    /// Returns the connection of a peer whose handshake is complete.
    pub(crate) fn from_peer(peer: Peer) -> Self {
        Self { peer }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }
}
