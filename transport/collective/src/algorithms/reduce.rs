//! Reductions, to one rank and to all.

use super::accumulator::Accumulator;
use super::fold::Fold;
use super::halving::{collect, collect_at, halve};
use super::tree::Tree;
use crate::blocks::Blocks;
use crate::schedule::{Builder, Order, Position, Span};

/// Combines along a tree. If the operation is not commutative, the tree begins at rank 0, so that
/// each subtree has consecutive ranks.
pub(super) fn binomial(builder: &mut Builder, at: Position, root: usize, is_commutative: bool) {
    let (input, output) = (builder.input(), builder.output());
    let start = if is_commutative { root } else { 0 };
    let tree = Tree::new(at, start);
    let mut distances = tree.distances();
    distances.reverse();
    let is_leaf = distances.is_empty();
    let result = match at.rank == start && start == root {
        true => output,
        false if is_leaf => input,
        false => builder.scratch(input.len),
    };
    let mut sum = Accumulator::new(input, result);
    for distance in distances {
        sum.receive(builder, tree.rank(tree.number + distance), false);
    }
    match tree.parent() {
        Some(parent) => builder.send(tree.rank(parent), sum.held()),
        None if start == root => sum.finish(builder),
        None => builder.send(root, sum.held()),
    }
    builder.wait();
    if at.rank == root && start != root {
        builder.receive(start, output);
        builder.wait();
    }
}

/// Reduces by Rabenseifner's algorithm.
pub(super) fn halving(builder: &mut Builder, at: Position, root: usize) {
    let (input, output) = (builder.input(), builder.output());
    let fold = Fold::new(at);
    let blocks = Blocks::split(fold.power, input.len);
    // If the root pauses, its partner collects the result for it.
    let (target, is_paused) = match fold.number_of(root) {
        Some(target) => (target, false),
        None => (root / 2, true),
    };
    let result = if at.rank == root {
        output
    } else {
        builder.scratch(input.len)
    };
    let mut sum = Accumulator::new(input, result);
    let Some(number) = fold.begin(builder, &mut sum) else {
        if at.rank == root {
            builder.receive(root + 1, output);
            builder.wait();
        }
        return;
    };
    halve(builder, &fold, number, &blocks, &mut sum);
    sum.finish(builder);
    collect_at(builder, &fold, (number, target), &blocks, result);
    if is_paused && number == target {
        builder.send(root, result);
        builder.wait();
    }
}

/// Pairs exchange all elements and combine them.
pub(super) fn all_recursive_doubling(builder: &mut Builder, at: Position) {
    let (input, output) = (builder.input(), builder.output());
    let fold = Fold::new(at);
    let mut sum = Accumulator::new(input, output);
    let number = fold.begin(builder, &mut sum);
    if let Some(number) = number {
        let mut distance = 1;
        while distance < fold.power {
            let partner = number ^ distance;
            let partner_rank = fold.rank(partner);
            let target = sum.target(builder, 0, input.len);
            builder.exchange((partner_rank, sum.held()), (partner_rank, target));
            sum.combine(builder, target, 0, partner < number);
            distance *= 2;
        }
        sum.finish(builder);
    }
    return_result(builder, at, &fold, output);
}

/// Reduces to all ranks by Rabenseifner's algorithm.
pub(super) fn all_halving(builder: &mut Builder, at: Position) {
    let (input, output) = (builder.input(), builder.output());
    let fold = Fold::new(at);
    let blocks = Blocks::split(fold.power, input.len);
    let mut sum = Accumulator::new(input, output);
    if let Some(number) = fold.begin(builder, &mut sum) {
        halve(builder, &fold, number, &blocks, &mut sum);
        sum.finish(builder);
        collect(builder, &fold, number, &blocks, output);
    }
    return_result(builder, at, &fold, output);
}

/// Sends the result to the ranks that have paused.
fn return_result(builder: &mut Builder, at: Position, fold: &Fold, output: Span) {
    if let Some(paused) = fold.paused() {
        builder.send(paused, output);
    } else if fold.number_of(at.rank).is_none() {
        builder.receive(at.rank + 1, output);
    }
    builder.wait();
}

/// Blocks go around a ring, and each rank adds its elements. Then the finished blocks go around.
pub(super) fn all_ring(builder: &mut Builder, at: Position) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    if size == 1 {
        return builder.copy(input, output);
    }
    let blocks = Blocks::split(size, input.len);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut sent = blocks.block(input, rank);
    for round in 1..size {
        let block = (rank + size - round) % size;
        let received = blocks.block(output, block);
        builder.exchange((next, sent), (previous, received));
        builder.combine(blocks.block(input, block), received, Order::IntoFirst);
        sent = received;
    }
    for round in 1..size {
        let received = blocks.block(output, (rank + size + 1 - round) % size);
        builder.exchange((next, sent), (previous, received));
        sent = received;
    }
}
