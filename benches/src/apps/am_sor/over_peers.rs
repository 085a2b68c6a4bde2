//! The nodes send border rows by active messages.

use std::sync::Arc;
use std::thread;

use jstream_sync::parker::block_on;
use jstream_transport::active::{Guarded, Handler, Handlers, Peer, Request};
use zerocopy::IntoBytes as _;

use super::{LIMIT, iterate};
use crate::Failure;
use crate::apps::node::Node;
use crate::apps::peers::Peers;
use crate::apps::sor::grid::{Grid, Problem};

/// Side of a node at which its neighbour has the rows above.
const ABOVE: usize = 0;

/// Side of a node at which its neighbour has the rows below.
const BELOW: usize = 1;

/// Buffers of a node for the rows of its neighbours, by side. A taken row leaves its buffer empty.
type Buffers = [Guarded<Option<Vec<f64>>>; 2];

/// A neighbour of a node, and its handler for rows.
struct Neighbour<'p> {
    side: usize,
    peer: &'p Peer,
    handler: Handler,
}

impl<'p> Neighbour<'p> {
    /// Returns the neighbours of a node, of which the first and the last node have one.
    fn of(node: &Node<'_>, peers: &'p Peers) -> Result<Vec<Self>, Failure> {
        let own = node.index();
        let neighbours = peers.others().filter_map(|(other, peer)| match other {
            other if other + 1 == own => Some((ABOVE, peer)),
            other if other == own + 1 => Some((BELOW, peer)),
            _ => None,
        });
        let neighbours = neighbours.map(|(side, peer)| {
            let handler = peer.handler("row")?;
            Ok(Self {
                side,
                peer,
                handler,
            })
        });
        neighbours.collect()
    }

    /// Returns the own row that the neighbour needs.
    fn own_row<'g>(&self, grid: &'g Grid<f64>, color: usize) -> &'g [f64] {
        let row = if self.side == ABOVE {
            1
        } else {
            grid.rows() - 2
        };
        grid.row(color, row)
    }

    /// Returns the side that this node is at for its neighbour.
    fn opposite(&self) -> u64 {
        (1 - self.side) as u64
    }
}

/// Returns the row of the grid that is a copy of the neighbour's.
fn border_mut(grid: &mut Grid<f64>, side: usize, color: usize) -> &mut [f64] {
    let row = if side == ABOVE { 0 } else { grid.rows() - 1 };
    grid.row_mut(color, row)
}

/// Puts the row of a request into the buffer that its word names, when this is empty.
async fn put(buffers: Arc<Buffers>, length: usize, request: Request) {
    let mut row = vec![0.0; length];
    let buffer = usize::try_from(request.word()).ok();
    let buffer = buffer.and_then(|side| buffers.get(side));
    let (Some(buffer), true) = (buffer, request.bytes().len() == size_of_val(&row[..])) else {
        request.refuse("this is not a row of a neighbour");
        return;
    };
    row.as_mut_bytes().copy_from_slice(request.bytes());
    *buffer.when(Option::is_none).await = Some(row);
    request.reply(0, &[]);
}

/// Relaxes the part of this node, whose neighbours put rows into its buffers. Returns the number of
/// iterations.
pub(super) fn in_buffers(
    node: &Node<'_>,
    problem: Problem,
    mut grid: Grid<f64>,
    threads: bool,
) -> Result<(u64, Grid<f64>), Failure> {
    let length = problem.columns / 2;
    let buffers: Arc<Buffers> = Arc::default();
    let filled = buffers.clone();
    let handlers = Handlers::builder();
    let handlers = if threads {
        handlers.on("row", move |request| {
            let work = put(filled.clone(), length, request);
            drop(thread::spawn(|| block_on(work)));
        })
    } else {
        handlers.on_async("row", move |request| put(filled.clone(), length, request))
    };
    let peers = Peers::start(node, &handlers.build())?;
    let neighbours = Neighbour::of(node, &peers)?;
    let iterations = node.clock.measure(|| {
        iterate(problem, |_| {
            for color in [0, 1] {
                grid.relax(color);
                let calls = neighbours.iter().map(|neighbour| {
                    let row = neighbour.own_row(&grid, color);
                    node.called(size_of_val(row));
                    let (handler, side) = (neighbour.handler, neighbour.opposite());
                    neighbour.peer.request(handler, side, row.as_bytes())
                });
                for call in calls.collect::<Vec<_>>() {
                    call?.wait()?;
                }
                for Neighbour { side, .. } in &neighbours {
                    let buffer = &buffers[*side];
                    peers.wait(buffer, |row| row.is_some().then_some(()))?;
                    let row = buffer.lock().take().unwrap_or_default();
                    border_mut(&mut grid, *side, color).copy_from_slice(&row);
                }
            }
            node.sum(grid.unsettled(0, LIMIT))
        })
    })?;
    Ok((iterations, grid))
}

/// The part of a grid in which handlers store rows where the kernel reads them.
struct SharedGrid {
    grid: Grid<f64>,
    /// Half iterations whose rows have arrived, by side.
    arrived: [u64; 2],
}

/// Stores the row of a request in the grid when this is not locked and the rows before have
/// arrived: a row that waits for the lock could be overtaken by the next one. The word has the half
/// iteration and the side.
async fn store(part: Arc<Guarded<SharedGrid>>, request: Request) {
    let (phase, side) = (request.word() >> 1, (request.word() & 1) as usize);
    let mut part = part.when(|part| part.arrived[side] == phase).await;
    let SharedGrid { grid, arrived } = &mut *part;
    let border = border_mut(grid, side, (phase % 2) as usize);
    // If the bytes are not a row, the node that awaits it reports that it did not arrive.
    if request.bytes().len() == size_of_val(border) {
        border.as_mut_bytes().copy_from_slice(request.bytes());
        arrived[side] = phase + 1;
    }
}

/// Relaxes the part of this node, whose neighbours store rows in its grid. Returns the number of
/// iterations.
///
/// A row of a half iteration arrives when this node has sent its rows of the half iteration before,
/// and no longer reads the row that is replaced.
pub(super) fn in_grid(
    node: &Node<'_>,
    problem: Problem,
    grid: Grid<f64>,
) -> Result<(u64, Grid<f64>), Failure> {
    let part = Arc::new(Guarded::new(SharedGrid {
        grid,
        arrived: [0; 2],
    }));
    let stored = part.clone();
    let handlers =
        Handlers::builder().on_async("row", move |request| store(stored.clone(), request));
    let peers = Peers::start(node, &handlers.build())?;
    let neighbours = Neighbour::of(node, &peers)?;
    let mut row = Vec::with_capacity(problem.columns / 2);
    let iterations = node.clock.measure(|| {
        iterate(problem, |number| {
            for color in [0, 1] {
                let phase = 2 * number + color as u64;
                part.lock().grid.relax(color);
                for neighbour in &neighbours {
                    row.clear();
                    row.extend_from_slice(neighbour.own_row(&part.lock().grid, color));
                    node.called(size_of_val(&row[..]));
                    let word = phase << 1 | neighbour.opposite();
                    neighbour
                        .peer
                        .send(neighbour.handler, word, row.as_bytes())?;
                }
                for Neighbour { side, .. } in &neighbours {
                    peers.wait(&part, |part| (part.arrived[*side] > phase).then_some(()))?;
                }
            }
            node.sum(part.lock().grid.unsettled(0, LIMIT))
        })
    })?;
    // The handlers share the part until the connections have ended.
    let empty = Grid::new(problem, 1..1);
    Ok((iterations, std::mem::replace(&mut part.lock().grid, empty)))
}
