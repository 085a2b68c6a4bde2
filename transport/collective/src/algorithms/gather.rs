//! Gathers.

use super::scatter::blocks_of_tree;
use super::tree::Tree;
use crate::blocks::Blocks;
use crate::schedule::{Builder, Position};

/// Each rank sends its block to the root.
pub(super) fn direct(builder: &mut Builder, at: Position, root: usize, blocks: &Blocks) {
    let (input, output) = (builder.input(), builder.output());
    if at.rank != root {
        return builder.send(root, input);
    }
    for rank in (0..at.size).filter(|rank| *rank != root) {
        builder.receive(rank, blocks.block(output, rank));
    }
    builder.copy(input, blocks.block(output, root));
}

/// Each rank collects the blocks of its subtree, and sends them to its parent.
pub(super) fn binomial(builder: &mut Builder, at: Position, root: usize, blocks: &Blocks) {
    let (input, output) = (builder.input(), builder.output());
    let tree = Tree::new(at, root);
    let in_tree = blocks_of_tree(&tree, at, blocks);
    let first = in_tree.start(tree.number);
    let len = in_tree.start(tree.own_end()) - first;
    let is_leaf = tree.number + 1 == tree.own_end();
    // The blocks of the subtree, in the order of the tree.
    let held = match tree.parent() {
        None if root == 0 => output,
        Some(_) if is_leaf => input,
        _ => builder.scratch(len),
    };
    builder.copy(input, held.part(0, input.len));
    // The child with the fewest blocks has them first.
    for distance in tree.distances().into_iter().rev() {
        let number = tree.number + distance;
        let start = in_tree.start(number);
        let len = in_tree.start(tree.end(distance)) - start;
        builder.receive(tree.rank(number), held.part(start - first, len));
    }
    builder.wait();
    match tree.parent() {
        Some(parent) => builder.send(tree.rank(parent), held),
        None if root == 0 => {}
        None => {
            let before = blocks.start(root);
            let (front, back) = (len - before, before);
            builder.copy(held.part(0, front), output.part(before, front));
            builder.copy(held.part(front, back), output.part(0, back));
        }
    }
}
