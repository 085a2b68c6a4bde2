//! The nodes send rows by active messages.

use std::sync::Arc;
use std::thread;

use jstream::Received;
use jstream_transport::active::{Guarded, Handlers, Replicated, Request};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::Distances;
use crate::Failure;
use crate::apps::node::Node;
use crate::apps::peers::Peers;

/// Rows by pivot. A row that has not arrived is empty.
type Rows = Vec<Vec<u32>>;

/// Updates the rows of this node with rows that are writes to a replicated object.
pub(super) fn replicated(node: &Node<'_>, distances: &mut Distances) -> Result<(), Failure> {
    let member = (node.index() as u32, node.count() as u32);
    let rows: Rows = vec![Vec::new(); distances.nodes];
    let rows = Replicated::new(
        "rows",
        member,
        rows,
        |rows, write: &Received<(u64, Vec<u32>)>| {
            let (pivot, row) = write.get();
            if let Some(stored) = rows.get_mut(*pivot as usize) {
                *stored = row.to_vec();
            }
        },
    );
    let peers = Peers::start(node, &rows.add_handlers(Handlers::builder()).build())?;
    for (other, peer) in peers.others() {
        rows.connect(other as u32, peer)?;
    }
    // The home accepts a write when all members are connected.
    node.world.barrier()?;
    node.clock.measure(|| {
        let mut writing = None;
        for pivot in 0..distances.nodes {
            let row = if distances.rows.contains(&pivot) {
                let row = distances.row(pivot).to_vec();
                let write = (pivot as u64, row);
                node.called(size_of_val(&write.1[..]));
                let earlier = writing.replace(rows.begin_write(&write)?);
                earlier.map_or(Ok(()), |earlier| earlier.wait())?;
                write.1
            } else {
                rows.wait(|rows| {
                    let row = rows.get(pivot).filter(|row| !row.is_empty());
                    row.cloned()
                })?
            };
            distances.update(pivot, &row);
        }
        writing.map_or(Ok(()), |last| last.wait())?;
        Ok(())
    })
}

fn store(rows: &Guarded<Rows>, request: Request) {
    // Bytes that are not a row leave the place of the row empty, which its waiter reports.
    let row = <[u32]>::ref_from_bytes(request.bytes()).map(<[u32]>::to_vec);
    if let Some(stored) = rows.lock().get_mut(request.word() as usize) {
        *stored = row.unwrap_or_default();
    }
}

/// Updates the rows of this node with rows that handlers store.
pub(super) fn bare(
    node: &Node<'_>,
    distances: &mut Distances,
    threads: bool,
) -> Result<(), Failure> {
    let rows: Rows = vec![Vec::new(); distances.nodes];
    let rows = Arc::new(Guarded::new(rows));
    let stored = rows.clone();
    let handlers = Handlers::builder().on("row", move |request| {
        if threads {
            let stored = stored.clone();
            drop(thread::spawn(move || store(&stored, request)));
        } else {
            store(&stored, request);
        }
    });
    let peers = Peers::start(node, &handlers.build())?;
    let others = peers.others();
    let others = others.map(|(_, peer)| Ok((peer, peer.handler("row")?)));
    let others = others.collect::<Result<Vec<_>, Failure>>()?;
    node.clock.measure(|| {
        for pivot in 0..distances.nodes {
            let row = if distances.rows.contains(&pivot) {
                let row = distances.row(pivot).to_vec();
                for (peer, handler) in &others {
                    node.called(size_of_val(&row[..]));
                    peer.send(*handler, pivot as u64, row.as_bytes())?;
                }
                row
            } else {
                peers.wait(&rows, |rows| {
                    let row = rows.get(pivot).filter(|row| !row.is_empty());
                    row.cloned()
                })?
            };
            distances.update(pivot, &row);
        }
        Ok(())
    })
}
