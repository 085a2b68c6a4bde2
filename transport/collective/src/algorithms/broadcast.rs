//! Broadcasts.

use super::tree::Tree;
use crate::blocks::Blocks;
use crate::schedule::{Builder, Position};

/// Number of elements of a segment in a chain, at least.
const SEGMENT: usize = 1 << 10;

/// Number of segments in a chain, at most.
const MOST_SEGMENTS: usize = 16;

pub(super) fn binomial(builder: &mut Builder, at: Position, root: usize) {
    let tree = Tree::new(at, root);
    let all = builder.output();
    if let Some(parent) = tree.parent() {
        builder.receive(tree.rank(parent), all);
        builder.wait();
    }
    for distance in tree.distances() {
        builder.send(tree.rank(tree.number + distance), all);
    }
    builder.wait();
}

/// Scatters one block to each rank, and then collects them around a ring.
pub(super) fn scatter_ring(builder: &mut Builder, at: Position, root: usize) {
    let Position { size, .. } = at;
    let tree = Tree::new(at, root);
    let all = builder.output();
    // Blocks are numbered like the ranks in the tree, so that a subtree has consecutive blocks.
    let blocks = Blocks::split(size, all.len);
    if let Some(parent) = tree.parent() {
        let own = blocks.range(all, tree.number, tree.own_end());
        builder.receive(tree.rank(parent), own);
        builder.wait();
    }
    for distance in tree.distances() {
        let first = tree.number + distance;
        let part = blocks.range(all, first, tree.end(distance));
        builder.send(tree.rank(first), part);
    }
    builder.wait();
    let (next, previous) = (
        tree.rank(tree.number + 1),
        tree.rank(tree.number + size - 1),
    );
    for round in 0..size.saturating_sub(1) {
        let sent = (tree.number + size - round) % size;
        let received = (tree.number + size - round - 1) % size;
        // The subtree's blocks are here already, but the message has to be taken all the same.
        builder.exchange(
            (next, blocks.block(all, sent)),
            (previous, blocks.block(all, received)),
        );
    }
}

/// Sends segments from rank to rank: each is passed on while the next is received.
pub(super) fn chain(builder: &mut Builder, at: Position, root: usize) {
    let tree = Tree::new(at, root);
    let all = builder.output();
    let count = (all.len / SEGMENT).clamp(1, MOST_SEGMENTS);
    let segments = Blocks::split(count, all.len);
    let next = (tree.number + 1 < at.size).then(|| tree.rank(tree.number + 1));
    let previous = tree.number.checked_sub(1).map(|number| tree.rank(number));
    // In round `round`, the root sends segment `round`, and the others pass on the one before.
    let delay = usize::from(previous.is_some());
    for round in 0..count + delay {
        if let (Some(previous), true) = (previous, round < count) {
            builder.receive(previous, segments.block(all, round));
        }
        if let (Some(next), Some(segment)) = (next, round.checked_sub(delay)) {
            builder.send(next, segments.block(all, segment));
        }
        builder.wait();
    }
}
