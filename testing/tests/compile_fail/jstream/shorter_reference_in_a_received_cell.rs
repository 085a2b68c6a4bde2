//! No cell in a buffer comes to refer to what dies before it.

use std::cell::Cell;

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    name: &'b str,
    next: Cell<Option<&'b Node<'b>>>,
}

fn store(received: &Received<Node<'static>>) {
    let other = Node {
        name: "other",
        next: Cell::new(None),
    };
    received.with(|node| node.next.set(Some(&other)));
}

fn main() {
    let _ = store;
}
