//! Pairs of peers that exchange active messages.

use std::thread;

use jstream_transport::active::{Handlers, Peer, Settings};

use super::default_pair;

/// Joins two peers, each with its own handlers, with default settings.
pub fn joined(scheme: &str, here: &Handlers, there: &Handlers) -> (Peer, Peer) {
    joined_by(scheme, here, there, &Settings::default())
}

/// Joins two peers with the given settings.
pub fn joined_by(
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
