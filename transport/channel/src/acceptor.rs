//! Acceptor of a side that listens.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Builder;

use jstream::Transportable;

use super::hello::Hello;
use super::join_listener::JoinListener;
use super::peer_set::PeerSet;
use super::peers::PeerConnection;
use jstream_base::AcceptError;
use jstream_base::events::emit;
use jstream_endpoint::{Incoming, Listener};
use tracing::Level;

/// Maximum number of simultaneous handshakes; further peers are refused. Bounds the threads that
/// silent peers occupy.
const MAX_JOINING: usize = 16;

/// Starts a thread that accepts peers at `listener`.
pub(super) fn open<T: Transportable + 'static>(
    peers: &Arc<PeerSet<T>>,
    listener: Listener,
    ours: Hello,
) -> io::Result<()> {
    let closer = listener.closer();
    let acceptor = Arc::new(JoinAcceptor {
        peers: Arc::downgrade(peers),
        ours,
        joining: AtomicUsize::new(0),
    });
    let name = "jstream-channel".to_owned();
    let open = move || acceptor.accept_peers(&listener);
    let thread = Builder::new().name(name).spawn(open)?;
    let _ = peers.listening.set(JoinListener::new(closer, thread));
    Ok(())
}

/// Accepts the peers that join.
struct JoinAcceptor<T: Transportable + 'static> {
    peers: Weak<PeerSet<T>>,
    ours: Hello,
    /// Number of handshakes in progress.
    joining: AtomicUsize,
}

impl<T: Transportable + 'static> JoinAcceptor<T> {
    fn accept_peers(self: Arc<Self>, listener: &Listener) {
        loop {
            match listener.accept() {
                Ok(incoming) => self.admit(incoming),
                Err(AcceptError::ClosedLocally { .. }) => return,
                // `accept` itself delays the next attempt after an error.
                Err(error) => emit(Level::DEBUG, move || {
                    tracing::debug!(%error, "accepting a peer of the channel failed");
                }),
            }
        }
    }

    /// Runs the handshake in a separate thread, so that a silent peer does not delay others.
    fn admit(self: &Arc<Self>, incoming: Incoming) {
        if self.joining.fetch_add(1, Ordering::Relaxed) >= MAX_JOINING {
            self.joining.fetch_sub(1, Ordering::Relaxed);
            return incoming.refuse("too many peers are joining the channel; try again later");
        }
        let acceptor = self.clone();
        let name = "jstream-join".to_owned();
        let spawned = Builder::new().name(name).spawn(move || {
            let peer = incoming.peer().clone();
            if let Err(reason) = acceptor.let_in(incoming) {
                emit(Level::DEBUG, move || {
                    tracing::debug!(%peer, reason, "peer did not join the channel");
                });
            }
            acceptor.joining.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            self.joining.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn let_in(&self, incoming: Incoming) -> Result<(), String> {
        let endpoint = incoming.establish().map_err(|error| error.to_string())?;
        // The handshake does not keep the channel alive while it waits for the peer.
        let timeout = match self.peers.upgrade() {
            Some(peers) => peers.options.handshake_timeout,
            None => return Err("the channel was closed".to_owned()),
        };
        let mut has_place = false;
        let reserve = || {
            has_place = self.peers.upgrade().is_some_and(|peers| peers.reserve());
            has_place
        };
        let joined = self.ours.answer_join(&endpoint, reserve, timeout);
        if has_place {
            let peers = self.peers.upgrade().ok_or("the channel was closed")?;
            peers.take_place(joined.is_ok().then_some(PeerConnection::Far(endpoint)));
        }
        joined
    }
}
