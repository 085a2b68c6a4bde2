//! Places of a world that ranks of this process are about to take.

use std::io;
use std::ops::Range;

use super::dialer::ListeningDialer;
use crate::{Mesh, Options, Rank};

/// A rank that is about to join a world, and the ranks of the same process, which it reaches
/// directly.
pub(super) struct Seat {
    pub(super) rank: u32,
    pub(super) size: u32,
    mesh: Mesh,
    /// The ranks of this process, with this one.
    near: Range<u32>,
}

impl Seat {
    /// Returns the seat of a rank that is alone in its process, or knows no other of it.
    pub(super) fn alone(rank: u32, size: u32, options: &Options) -> Self {
        Self {
            rank,
            size,
            mesh: Mesh::new(rank, size, options),
            near: rank..rank.saturating_add(1),
        }
    }

    /// Returns the seats of ranks that are threads of this process.
    ///
    /// They are connected to each other from the start: if one of them can't join, the others learn
    /// that it is gone.
    pub(super) fn of_threads(near: &Range<u32>, size: u32, options: &Options) -> Vec<Self> {
        let all: Vec<_> = near
            .clone()
            .map(|rank| Mesh::new(rank, size, options))
            .collect();
        let nodes: Vec<_> = all.iter().map(Mesh::node).collect();
        let seats = near.clone().zip(all).map(|(rank, mesh)| {
            let others = near.clone().zip(&nodes).filter(|(peer, _)| *peer != rank);
            Self {
                rank,
                size,
                mesh: others.fold(mesh, |mesh, (peer, node)| mesh.thread(peer, node)),
                near: near.clone(),
            }
        });
        seats.collect()
    }

    /// Returns the ranks of this process, with this one.
    pub(super) fn near(&self) -> Range<u32> {
        self.near.clone()
    }

    /// Builds the rank. Ranks of other processes are connected when they are needed. If the world
    /// can't be created, dropping the rank tells the ranks of this process that it is gone.
    pub(super) fn build(self, dialer: ListeningDialer) -> io::Result<Rank> {
        let listens = dialer.dialer.clone();
        let rank = self.mesh.build_dialed(Box::new(dialer))?;
        // From here on the dialer accepts pairs: the node that they are attached to exists.
        listens.serve(rank.node());
        Ok(rank)
    }
}
