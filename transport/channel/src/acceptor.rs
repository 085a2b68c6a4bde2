//! Acceptor of a side that listens.

use std::io;
use std::sync::{Arc, Weak};

use jstream::Transportable;

use super::hello::{Hello, JoinVerdict, MAX_PIECE, PeerHello};
use super::peer_set::PeerSet;
use super::peers::PeerConnection;
use super::versions::Version;
use jstream_base::events::emit;
use jstream_endpoint::acceptor::{Acceptor, AcceptorLimits, Newcomer};
use jstream_endpoint::{Endpoint, Listener};
use tracing::Level;

/// Starts a thread that accepts peers at `listener`.
pub(super) fn open<T: Transportable + 'static>(
    peers: &Arc<PeerSet<T>>,
    listener: Listener,
    ours: Hello,
) -> io::Result<()> {
    // The greeting of the device takes a part of the time.
    let time = peers.options.handshake_timeout.saturating_mul(2);
    // The handshakes do not keep the channel alive while they wait for peers.
    let (joining, ours) = (Arc::downgrade(peers), Arc::new(ours));
    let greet = move |newcomer: Newcomer| {
        let (peers, ours) = (joining.clone(), ours.clone());
        async move {
            let peer = newcomer.peer().clone();
            if let Err(reason) = admit(newcomer, &ours, peers).await {
                emit(Level::DEBUG, move || {
                    tracing::debug!(%peer, reason, "peer did not join the channel");
                });
            }
        }
    };
    let limits = AcceptorLimits::new(time);
    let acceptor = Acceptor::open("jstream-channel", listener, limits, greet)?;
    let _ = peers.listening.set(acceptor);
    Ok(())
}

async fn admit<T: Transportable + 'static>(
    newcomer: Newcomer,
    ours: &Hello,
    peers: Weak<PeerSet<T>>,
) -> Result<(), String> {
    let established = newcomer.establish().await;
    let candidate = established.map_err(|error| error.to_string())?;
    let mut theirs = PeerHello::new();
    while !theirs.is_complete() {
        let message = candidate.receive(MAX_PIECE).await;
        let message = message.map_err(|error| error.to_string())?;
        theirs.push(&message)?;
    }
    let (verdict, version) = ours.judge(theirs)?;
    let (verdict, place) = match verdict {
        JoinVerdict::Welcome => match ReservedPeer::take(peers, version) {
            Some(place) => (verdict, Some(place)),
            None => (JoinVerdict::Full, None),
        },
        refused => (refused, None),
    };
    for (header, payload) in ours.answer(verdict) {
        let said = candidate.send(header, payload).await;
        said.map_err(|error| error.to_string())?;
    }
    match place {
        Some(place) => place.join(candidate.admit()),
        None => {
            candidate.dismiss().await;
            Err(ours.reason(verdict))
        }
    }
}

/// A place among the peers that is reserved for one that has not joined yet. Dropping it releases
/// the place.
struct ReservedPeer<T: Transportable + 'static> {
    /// `None` once the peer has joined.
    peers: Option<Weak<PeerSet<T>>>,
    /// The peer's version, if it sends objects of another one.
    version: Option<Version>,
}

impl<T: Transportable + 'static> ReservedPeer<T> {
    fn take(peers: Weak<PeerSet<T>>, version: Option<Version>) -> Option<Self> {
        let has_room = peers.upgrade().is_some_and(|peers| {
            let known = version.as_ref();
            known.is_none_or(|version| peers.versions.has_room_for(version)) && peers.reserve()
        });
        let peers = Some(peers);
        has_room.then_some(Self { peers, version })
    }

    fn join(mut self, endpoint: Endpoint) -> Result<(), String> {
        let peers = self.peers.take().and_then(|peers| peers.upgrade());
        let peers = peers.ok_or("the channel was closed")?;
        if let Some(version) = self.version.take() {
            peers.versions.insert(&endpoint, version);
        }
        peers.take_place(Some(PeerConnection::Far(endpoint)));
        Ok(())
    }
}

impl<T: Transportable + 'static> Drop for ReservedPeer<T> {
    fn drop(&mut self) {
        if let Some(peers) = self.peers.take().and_then(|peers| peers.upgrade()) {
            peers.take_place(None);
        }
    }
}
