//! Exchanges of one block between each two ranks.

use crate::blocks::Blocks;
use crate::schedule::{Builder, Position};

/// All messages at once.
pub(super) fn direct(builder: &mut Builder, at: Position, sent: &Blocks, received: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    for distance in 1..size {
        let from = (rank + size - distance) % size;
        builder.receive(from, received.block(output, from));
    }
    for distance in 1..size {
        let to = (rank + distance) % size;
        builder.send(to, sent.block(input, to));
    }
    builder.copy(sent.block(input, rank), received.block(output, rank));
}

/// One message to, and one from, another rank in each round.
pub(super) fn pairwise(builder: &mut Builder, at: Position, sent: &Blocks, received: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    builder.copy(sent.block(input, rank), received.block(output, rank));
    for distance in 1..size {
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        builder.exchange(
            (to, sent.block(input, to)),
            (from, received.block(output, from)),
        );
    }
}

/// In round `k`, all blocks whose way has bit `k` go that far. A block's way is the distance from
/// its origin to its destination.
pub(super) fn bruck(builder: &mut Builder, at: Position, len: usize) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    // The blocks by the distance of their destination, and a message of up to half of them.
    let held = builder.scratch(size * len);
    let (packed, unpacked) = (
        builder.scratch(size / 2 * len),
        builder.scratch(size / 2 * len),
    );
    let front = (size - rank) * len;
    builder.copy(input.part(rank * len, front), held.part(0, front));
    builder.copy(input.part(0, rank * len), held.part(front, rank * len));
    let mut distance = 1;
    while distance < size {
        let moving = || (0..size).filter(|block| block & distance != 0).enumerate();
        for (index, block) in moving() {
            builder.copy(held.part(block * len, len), packed.part(index * len, len));
        }
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        let length = moving().count() * len;
        builder.exchange(
            (to, packed.part(0, length)),
            (from, unpacked.part(0, length)),
        );
        for (index, block) in moving() {
            builder.copy(unpacked.part(index * len, len), held.part(block * len, len));
        }
        distance *= 2;
    }
    for block in 0..size {
        let from = (rank + size - block) % size;
        builder.copy(held.part(block * len, len), output.part(from * len, len));
    }
}
