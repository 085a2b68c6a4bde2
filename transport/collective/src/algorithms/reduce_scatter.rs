//! Reductions whose result is scattered.

use super::accumulator::Accumulator;
use super::fold::Fold;
use super::halving::halve;
use crate::blocks::Blocks;
use crate::schedule::{Builder, Order, Position};

/// Pairs exchange halves of decreasing size.
pub(super) fn halving(builder: &mut Builder, at: Position, blocks: &Blocks) {
    let (input, output) = (builder.input(), builder.output());
    let fold = Fold::new(at);
    // A rank that has the elements of a pair combines the blocks of both.
    let lengths = (0..fold.power).map(|number| {
        let (first, end) = (fold.first_rank(number), fold.first_rank(number + 1));
        blocks.start(end) - blocks.start(first)
    });
    let Ok(folded) = Blocks::of(lengths) else {
        unreachable!("the blocks have been added up in another way")
    };
    let is_alone = at.size == 1;
    let result = if is_alone {
        output
    } else {
        builder.scratch(input.len)
    };
    let mut sum = Accumulator::new(input, result);
    match fold.begin(builder, &mut sum) {
        Some(number) => halve(builder, &fold, number, &folded, &mut sum),
        None => builder.receive(at.rank + 1, output),
    }
    builder.wait();
    if is_alone {
        return sum.finish(builder);
    }
    if let Some(paused) = fold.paused() {
        builder.send(paused, blocks.block(result, paused));
        builder.wait();
    }
    if fold.number_of(at.rank).is_some() {
        builder.copy(blocks.block(result, at.rank), output);
    }
}

/// Each rank gets its block from one rank after the other.
pub(super) fn pairwise(builder: &mut Builder, at: Position, blocks: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    let mut sum = Accumulator::new(blocks.block(input, rank), output);
    for distance in 1..size {
        let (to, from) = ((rank + distance) % size, (rank + size - distance) % size);
        let target = sum.target(builder, 0, output.len);
        builder.exchange((to, blocks.block(input, to)), (from, target));
        sum.combine(builder, target, 0, from < rank);
    }
    sum.finish(builder);
}

/// Each rank gets its block from all ranks at once, and combines in the order of the ranks.
pub(super) fn direct(builder: &mut Builder, at: Position, blocks: &Blocks) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    let mut operands = Vec::with_capacity(size);
    for from in 0..size {
        if from == rank {
            operands.push(blocks.block(input, rank));
        } else {
            let received = builder.scratch(output.len);
            builder.receive(from, received);
            operands.push(received);
        }
    }
    for distance in 1..size {
        let to = (rank + distance) % size;
        builder.send(to, blocks.block(input, to));
    }
    builder.wait();
    for (index, operand) in operands.into_iter().enumerate() {
        match index {
            0 => builder.copy(operand, output),
            _ => builder.combine(operand, output, Order::IntoFirst),
        }
    }
}
