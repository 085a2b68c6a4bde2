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
    let mut theirs = PeerHello::default();
    while !theirs.is_complete() {
        let message = candidate.receive(MAX_PIECE).await;
        let message = message.map_err(|error| error.to_string())?;
        theirs.push(&message)?;
    }
    let mut answer = ours.judge(theirs)?;
    let mut place = None;
    if answer.verdict == JoinVerdict::Welcome {
        place = ReservedPeer::reserve(peers, answer.version.take());
        if place.is_none() {
            answer.verdict = JoinVerdict::Full;
        }
    }
    for (header, payload) in ours.answer(&answer) {
        let said = candidate.send(header, payload).await;
        said.map_err(|error| error.to_string())?;
    }
    let Some(place) = place else {
        candidate.dismiss().await;
        return Err(ours.reason(answer.verdict));
    };
    if answer.is_open {
        let decision = candidate.receive(0).await;
        let decision = decision.map_err(|error| error.to_string())?;
        if !Hello::accepts(&decision.header) {
            return Err("it did not say whether it joins".to_owned());
        }
    }
    place.join(candidate.admit())
}

/// A place among the peers that is reserved for one that has not joined yet. Dropping it releases
/// the place.
struct ReservedPeer<T: Transportable + 'static> {
    /// `None` once the peer has joined.
    peers: Option<Weak<PeerSet<T>>>,
    /// The peer's version, if it sends objects of another one.
    version: Option<Arc<Version>>,
}

impl<T: Transportable + 'static> ReservedPeer<T> {
    fn reserve(peers: Weak<PeerSet<T>>, version: Option<Version>) -> Option<Self> {
        let known = peers.upgrade()?;
        if !known.reserve() {
            return None;
        }
        // From here on, dropping it releases the place.
        let mut place = Self {
            peers: Some(peers),
            version: None,
        };
        if let Some(version) = version {
            place.version = Some(known.versions.reserve(version)?);
        }
        Some(place)
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
