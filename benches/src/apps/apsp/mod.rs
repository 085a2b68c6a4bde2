//! All-pairs shortest paths: for each node of a graph, its row of the matrix of distances is sent
//! to all nodes of the machine, which update their rows with it.
//!
//! The paper on optimistic active messages, section 4.2.1, runs a graph of 512 nodes; figure 5
//! shows that its programs are at worst 1.6 times slower than hand-written active messages, because
//! the rows are copied once more. Its program broadcasts the rows as writes to a replicated object,
//! as the driver `jstream` does. `jstream-bare` sends them as messages with handlers that store
//! them, which stands for the hand-written program, and `jstream-threads` runs each of these
//! handlers on a thread of its own, which stands for the system without optimistic execution.
//!
//! Our figures, as ratios, are in `docs/performance.md`, which `jstream-benches docs` writes.

mod over_peers;

use std::ops::Range;
use std::sync::{Barrier, RwLock};
use std::thread;

use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::app::{Answer, App};
use super::clock::Clock;
use super::node::Node;
use super::size::Size;
use crate::Failure;

/// The application.
pub(super) struct Apsp;

const REPLICATED: &str = "jstream";
const BARE: &str = "jstream-bare";
const THREADS: &str = "jstream-threads";

/// Distance between nodes without a path. Twice this distance is a number, too.
const FAR: u32 = u32::MAX / 2;

/// Rows of the matrix of distances.
struct Distances {
    nodes: usize,
    rows: Range<usize>,
    distances: Vec<u32>,
}

impl Distances {
    /// Creates some rows for a random graph in which each node has edges to about eight others.
    fn new(nodes: usize, rows: Range<usize>) -> Self {
        let mut distances = vec![FAR; rows.len() * nodes];
        for (row, distances) in rows.clone().zip(distances.chunks_mut(nodes)) {
            // Each row has its own generator, so that a part of the rows is the same as in the
            // whole.
            let mut random = Pcg64Mcg::seed_from_u64(row as u64);
            for _ in 0..8 {
                distances[random.gen_range(0..nodes)] = random.gen_range(1..1000);
            }
            distances[row] = 0;
        }
        Self {
            nodes,
            rows,
            distances,
        }
    }

    fn row(&self, row: usize) -> &[u32] {
        &self.distances[(row - self.rows.start) * self.nodes..][..self.nodes]
    }

    /// Shortens all paths that are shorter by way of node `pivot`, whose row is `row`.
    fn update(&mut self, pivot: usize, row: &[u32]) {
        for own in self.distances.chunks_mut(self.nodes) {
            shorten(own, own[pivot], row);
        }
    }

    fn numbers(&self) -> Answer {
        self.distances.iter().copied().map(f64::from).collect()
    }
}

#[inline(never)]
fn shorten(own: &mut [u32], to_pivot: u32, from_pivot: &[u32]) {
    for (distance, rest) in own.iter_mut().zip(from_pivot) {
        *distance = (*distance).min(to_pivot + rest);
    }
}

/// Returns the number of nodes of the graph.
fn nodes(size: Size) -> usize {
    size.pick(48, 512)
}

/// Returns the rows of a part.
fn part(nodes: usize, index: usize, count: usize) -> Range<usize> {
    nodes * index / count..nodes * (index + 1) / count
}

impl App for Apsp {
    fn name(&self) -> &'static str {
        "apsp"
    }

    fn about(&self) -> &'static str {
        "All-pairs shortest paths by writes to a replicated object"
    }

    fn subjects(&self) -> &'static [&'static str] {
        &[REPLICATED, BARE, THREADS]
    }

    fn sequential(&self, size: Size, clock: &Clock<'_>) -> Result<Answer, Failure> {
        let nodes = nodes(size);
        let mut distances = Distances::new(nodes, 0..nodes);
        clock.measure(|| {
            for pivot in 0..nodes {
                let row = distances.row(pivot).to_vec();
                distances.update(pivot, &row);
            }
            Ok(())
        })?;
        Ok(distances.numbers())
    }

    fn shares_memory(&self) -> bool {
        true
    }

    fn shared_memory(
        &self,
        size: Size,
        threads: u32,
        clock: &Clock<'_>,
    ) -> Result<Answer, Failure> {
        let (nodes, threads) = (nodes(size), threads as usize);
        let parts = (0..threads).map(|index| Distances::new(nodes, part(nodes, index, threads)));
        let mut parts: Vec<_> = parts.collect();
        clock.measure(|| {
            share(nodes, &mut parts);
            Ok(())
        })?;
        Ok(parts.iter().flat_map(Distances::numbers).collect())
    }

    fn node(&self, node: &Node<'_>) -> Result<Answer, Failure> {
        let nodes = nodes(node.size);
        let mut distances = Distances::new(nodes, part(nodes, node.index(), node.count()));
        match node.subject {
            REPLICATED => over_peers::replicated(node, &mut distances)?,
            subject => over_peers::bare(node, &mut distances, subject == THREADS)?,
        }
        Ok(distances.numbers())
    }
}

/// Updates parts with a thread for each. The owner of a row publishes it between two barriers.
fn share(nodes: usize, parts: &mut [Distances]) {
    let (barrier, published) = (Barrier::new(parts.len()), RwLock::new(Vec::new()));
    thread::scope(|scope| {
        for part in parts {
            let (barrier, published) = (&barrier, &published);
            scope.spawn(move || {
                for pivot in 0..nodes {
                    if part.rows.contains(&pivot) {
                        let row = part.row(pivot).to_vec();
                        if let Ok(mut published) = published.write() {
                            *published = row;
                        }
                    }
                    barrier.wait();
                    if let Ok(row) = published.read() {
                        part.update(pivot, &row);
                    }
                    barrier.wait();
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_paths_are_the_shortest_ones() {
        let nodes = 24;
        let edges = Distances::new(nodes, 0..nodes);
        let mut found = Distances::new(nodes, 0..nodes);
        for pivot in 0..nodes {
            let row = found.row(pivot).to_vec();
            found.update(pivot, &row);
        }
        // Bellman and Ford: each round adds an edge to the paths from a node.
        for from in 0..nodes {
            let mut lengths = vec![FAR; nodes];
            lengths[from] = 0;
            for _ in 0..nodes {
                for via in 0..nodes {
                    for to in 0..nodes {
                        lengths[to] = lengths[to].min(lengths[via] + edges.row(via)[to]);
                    }
                }
            }
            assert_eq!(found.row(from), lengths, "from node {from}");
        }
    }
}
