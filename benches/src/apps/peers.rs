//! Active messages between the nodes.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use jstream_transport::RankPeers;
use jstream_transport::active::{Guarded, Handlers, Peer, Settings};

use super::node::{Node, TIMEOUT};
use crate::Failure;

/// Connections to all other nodes, with a thread that serves them.
pub(super) struct Peers {
    /// Peers by node; this node has none.
    peers: Vec<Option<Peer>>,
    _serving: RankPeers,
}

impl Peers {
    /// Serves `handlers`, and connects to all other nodes. All nodes call this function.
    pub(super) fn start(node: &Node<'_>, handlers: &Handlers) -> Result<Self, Failure> {
        let serving = RankPeers::start(node.world, "nodes", handlers, Settings::default())
            .map_err(|error| format!("{error:?}"))?;
        let mut peers = Vec::with_capacity(node.count());
        for index in 0..node.count() {
            peers.push(match index == node.index() {
                true => None,
                false => {
                    let peer = serving.peer(index as u32);
                    Some(peer.map_err(|error| format!("node {index}: {error:?}"))?)
                }
            });
        }
        Ok(Self {
            peers,
            _serving: serving,
        })
    }

    /// Returns all other nodes with their peers.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, &Peer)> {
        let peers = self.peers.iter().enumerate();
        peers.filter_map(|(index, peer)| Some((index, peer.as_ref()?)))
    }

    /// Waits until `guard` returns a value, and serves meanwhile.
    ///
    /// # Errors
    ///
    /// Fails if there is no value within [`TIMEOUT`].
    pub(super) fn wait<T, R>(
        &self,
        object: &Guarded<T>,
        mut guard: impl FnMut(&T) -> Option<R>,
    ) -> Result<R, Failure> {
        let (_, peer) = self.others().next().ok_or("there is no other node")?;
        let mut found = None;
        {
            let mut waiting = pin!(object.when(|object| {
                found = guard(object);
                found.is_some()
            }));
            peer.attendant()
                .wait_until(Some(Instant::now() + TIMEOUT), |waker| {
                    let mut context = Context::from_waker(waker.unwrap_or(Waker::noop()));
                    match waiting.as_mut().poll(&mut context) {
                        Poll::Ready(_) => Some(()),
                        Poll::Pending => None,
                    }
                });
        }
        found.ok_or_else(|| format!("no node sent what was awaited within {TIMEOUT:?}").into())
    }
}
