//! Two sides of active messages.

use std::thread;

use jstream_transport::active::{Handlers, Peer, Settings};

use super::default_pair;

/// Two sides with handlers of their own, joined by default settings.
pub(crate) fn joined(scheme: &str, here: &Handlers, there: &Handlers) -> (Peer, Peer) {
    joined_by(scheme, here, there, &Settings::default())
}

/// The same by others.
pub(crate) fn joined_by(
    scheme: &str,
    here: &Handlers,
    there: &Handlers,
    settings: &Settings,
) -> (Peer, Peer) {
    let (client, server) = default_pair(scheme);
    thread::scope(|scope| {
        let other = scope.spawn(|| Peer::join(server, there, settings.clone()).unwrap());
        let one = Peer::join(client, here, settings.clone()).unwrap();
        (one, other.join().unwrap())
    })
}
