//! Scatters.

use super::tree::Tree;
use crate::blocks::Blocks;
use crate::schedule::{Builder, Position, Span};

/// The root sends each block to its rank.
pub(super) fn direct(builder: &mut Builder, at: Position, root: usize, blocks: &Blocks) {
    let (input, output) = (builder.input(), builder.output());
    if at.rank != root {
        return builder.receive(root, output);
    }
    for rank in (0..at.size).filter(|rank| *rank != root) {
        builder.send(rank, blocks.block(input, rank));
    }
    builder.copy(blocks.block(input, root), output);
}

/// Each rank gets the blocks of its subtree, and passes on those of its children.
pub(super) fn binomial(
    builder: &mut Builder,
    at: Position,
    root: usize,
    blocks: &Blocks,
    (input, output): (Span, Span),
) {
    let tree = Tree::new(at, root);
    let in_tree = blocks_of_tree(&tree, at, blocks);
    // The blocks of the subtree, in the order of the tree. Only a root that is rank 0 has them in
    // this order already.
    let first = in_tree.start(tree.number);
    let len = in_tree.start(tree.own_end()) - first;
    let held = match tree.parent() {
        None if root == 0 => input,
        None => {
            let turned = builder.scratch(len);
            let before = blocks.start(root);
            let (front, back) = (len - before, before);
            builder.copy(input.part(before, front), turned.part(0, front));
            builder.copy(input.part(0, back), turned.part(front, back));
            turned
        }
        Some(parent) => {
            let is_leaf = tree.number + 1 == tree.own_end();
            let held = if is_leaf {
                output
            } else {
                builder.scratch(len)
            };
            builder.receive(tree.rank(parent), held);
            builder.wait();
            held
        }
    };
    for distance in tree.distances() {
        let number = tree.number + distance;
        let start = in_tree.start(number);
        let len = in_tree.start(tree.end(distance)) - start;
        builder.send(tree.rank(number), held.part(start - first, len));
    }
    builder.copy(held.part(0, output.len), output);
}

/// Returns the blocks in the order of the tree.
pub(super) fn blocks_of_tree(tree: &Tree, at: Position, blocks: &Blocks) -> Blocks {
    match Blocks::of((0..at.size).map(|number| blocks.len(tree.rank(number)))) {
        Ok(blocks) => blocks,
        Err(_) => unreachable!("the blocks have been added up in another order"),
    }
}
