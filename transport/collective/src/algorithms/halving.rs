//! The two phases of Rabenseifner's algorithm: pairs exchange halves and combine them, until each
//! rank has one block of the result; and ranks collect the blocks.

use super::accumulator::Accumulator;
use super::fold::Fold;
use crate::blocks::Blocks;
use crate::schedule::{Builder, Span};

/// Combines the elements of all ranks. In the end, the rank with this number holds the block of
/// this number.
pub(super) fn halve(
    builder: &mut Builder,
    fold: &Fold,
    number: usize,
    blocks: &Blocks,
    sum: &mut Accumulator,
) {
    let mut distance = fold.power / 2;
    while distance > 0 {
        let partner = number ^ distance;
        let (kept, given) = (group(number, distance), group(partner, distance));
        let sent = blocks.range(sum.held(), given, given + distance);
        let start = blocks.start(kept);
        let len = blocks.start(kept + distance) - start;
        let target = sum.target(builder, start, len);
        let partner_rank = fold.rank(partner);
        builder.exchange((partner_rank, sent), (partner_rank, target));
        sum.combine(builder, target, start, partner < number);
        distance /= 2;
    }
}

/// Collects all blocks at all ranks. The rank with this number has the block of this number.
pub(super) fn collect(
    builder: &mut Builder,
    fold: &Fold,
    number: usize,
    blocks: &Blocks,
    all: Span,
) {
    let mut distance = 1;
    while distance < fold.power {
        let partner = number ^ distance;
        let (own, other) = (group(number, distance), group(partner, distance));
        let partner_rank = fold.rank(partner);
        builder.exchange(
            (partner_rank, blocks.range(all, own, own + distance)),
            (partner_rank, blocks.range(all, other, other + distance)),
        );
        distance *= 2;
    }
}

/// Collects all blocks at the rank with the number `target`.
pub(super) fn collect_at(
    builder: &mut Builder,
    fold: &Fold,
    (number, target): (usize, usize),
    blocks: &Blocks,
    all: Span,
) {
    let mut distance = 1;
    while distance < fold.power {
        let partner = number ^ distance;
        let partner_rank = fold.rank(partner);
        if (number ^ target) & distance != 0 {
            let own = group(number, distance);
            builder.send(partner_rank, blocks.range(all, own, own + distance));
            return builder.wait();
        }
        let other = group(partner, distance);
        builder.receive(partner_rank, blocks.range(all, other, other + distance));
        builder.wait();
        distance *= 2;
    }
}

/// Returns the first number of the aligned group of `distance` numbers that contains a number.
fn group(number: usize, distance: usize) -> usize {
    number & !(distance - 1)
}
