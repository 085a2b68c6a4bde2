//! An object with cells cannot be borrowed exclusively.

use std::cell::Cell;

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    name: &'b str,
    next: Cell<Option<&'b Node<'b>>>,
}

fn name(received: &mut Received<Node<'static>>) -> usize {
    received.with_mut(|node| node.name.len())
}

fn main() {
    let _ = name;
}
