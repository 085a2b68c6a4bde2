//! All-gathers.
//!
//! A rank sends its own block from the input, and copies it to the output later, so that the first
//! message does not wait for the copy.

use crate::blocks::Blocks;
use crate::schedule::{Builder, Position};

/// Blocks go around a ring until each rank has all.
pub(super) fn ring(builder: &mut Builder, at: Position, blocks: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut sent = input;
    for round in 1..size {
        let received = blocks.block(output, (rank + size - round) % size);
        builder.exchange((next, sent), (previous, received));
        sent = received;
    }
    builder.copy(input, blocks.block(output, rank));
}

/// Pairs exchange all blocks that they have. The number of ranks is a power of two.
pub(super) fn recursive_doubling(builder: &mut Builder, at: Position, blocks: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    if size > 1 {
        let partner = rank ^ 1;
        builder.exchange((partner, input), (partner, blocks.block(output, partner)));
    }
    builder.copy(input, blocks.block(output, rank));
    let mut distance = 2;
    while distance < size {
        let partner = rank ^ distance;
        let (own, other) = (rank & !(distance - 1), partner & !(distance - 1));
        builder.exchange(
            (partner, blocks.range(output, own, own + distance)),
            (partner, blocks.range(output, other, other + distance)),
        );
        distance *= 2;
    }
}

/// In each round, a rank gets the blocks that the rank at a distance has collected. The blocks are
/// collected in the order of the ranks from this one on, and put into place at the end.
pub(super) fn bruck(builder: &mut Builder, at: Position, blocks: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    if size == 1 {
        return builder.copy(input, output);
    }
    let turned = builder.scratch(blocks.total());
    let own = blocks.start(rank);
    // Returns the place of the block of the rank at a distance.
    let start = |distance: usize| match (rank + distance).checked_sub(size) {
        None => blocks.start(rank + distance) - own,
        Some(wrapped) => blocks.total() - own + blocks.start(wrapped),
    };
    builder.copy(input, turned.part(0, input.len));
    let mut distance = 1;
    while distance < size {
        let count = distance.min(size - distance);
        let to = (rank + size - distance) % size;
        let from = (rank + distance) % size;
        let received = start(distance)..start(distance + count);
        builder.exchange(
            (to, turned.part(0, start(count))),
            (
                from,
                turned.part(received.start, received.end - received.start),
            ),
        );
        distance *= 2;
    }
    let front = blocks.total() - own;
    builder.copy(turned.part(0, front), output.part(own, front));
    builder.copy(turned.part(front, own), output.part(0, own));
}
