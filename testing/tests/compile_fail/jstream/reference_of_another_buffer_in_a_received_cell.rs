//! No cell in a buffer comes to refer to another buffer.

use std::cell::Cell;

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    name: &'b str,
    next: Cell<Option<&'b Node<'b>>>,
}

fn link(from: &Received<Node<'static>>, to: &Received<Node<'static>>) {
    from.with(|from| to.with(|to| from.next.set(Some(to))));
}

fn main() {
    let _ = link;
}
