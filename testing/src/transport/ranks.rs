//! Groups of ranks in one process, connected by every kind of connection.

use std::thread;

use jstream_transport::listen;
use jstream_transport::rank::{self, Mesh, Rank};

use super::{SCHEMES, fresh, join, patient};

/// Returns all kinds of connections between ranks.
pub fn ways() -> impl Iterator<Item = &'static str> {
    ["threads"].into_iter().chain(SCHEMES)
}

/// Creates `size` ranks, connected pairwise by connections of the given kind.
pub fn group(way: &str, size: u32, options: &rank::Options) -> Vec<Rank> {
    group_of(way, size, |_| options.clone())
}

/// Like [`group`], with options for each rank.
pub fn group_of(way: &str, size: u32, options: impl Fn(u32) -> rank::Options) -> Vec<Rank> {
    let all = (0..size).map(|rank| Mesh::new(rank, size, &options(rank)));
    if way == "threads" {
        let all: Vec<_> = all.collect();
        let nodes: Vec<_> = all.iter().map(Mesh::node).collect();
        let connected = all.into_iter().map(|mesh| {
            let others = (0..).zip(&nodes);
            let mesh = others.fold(mesh, |mesh, (peer, node)| mesh.thread(peer, node));
            mesh.build()
        });
        return connected.collect();
    }
    let mut all: Vec<_> = all.map(Some).collect();
    for one in 0..size as usize {
        for other in one + 1..size as usize {
            let listener = listen(&fresh(way), &patient()).unwrap();
            let ends = join(&listener, &patient());
            for (rank, peer, end) in [(one, other, ends.0), (other, one, ends.1)] {
                let mesh = all[rank].take().unwrap();
                all[rank] = Some(mesh.endpoint(u32::try_from(peer).unwrap(), end).unwrap());
            }
        }
    }
    all.into_iter().map(|mesh| mesh.unwrap().build()).collect()
}

/// Runs `work` for each rank in a thread of its own. Returns the results in the order of the ranks.
///
/// # Panics
///
/// Panics if one of the threads does.
pub fn each<R: Send>(ranks: &[Rank], work: impl Fn(&Rank) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = ranks
            .iter()
            .map(|rank| scope.spawn(move || work(rank)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Creates two connected ranks.
pub fn two(way: &str) -> (Rank, Rank) {
    let mut both = group(way, 2, &rank::Options::default());
    let one = both.pop().unwrap();
    (both.pop().unwrap(), one)
}
