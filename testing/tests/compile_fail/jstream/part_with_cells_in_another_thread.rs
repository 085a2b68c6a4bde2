//! A part with cells may have a clone where it came from.

use std::cell::Cell;

use jstream::{Part, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    name: &'b str,
    next: Cell<Option<&'b Node<'b>>>,
}

fn send<T: Send>(_: T) {}

fn give_away(part: Part<Node<'static>>) {
    send(part);
}

fn main() {
    let _ = give_away;
}
