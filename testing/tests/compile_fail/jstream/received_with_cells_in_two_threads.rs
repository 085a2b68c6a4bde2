//! An object with cells cannot be shared between threads.

use std::cell::Cell;

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    name: &'b str,
    next: Cell<Option<&'b Node<'b>>>,
}

fn sync<T: Sync>(_: &T) {}

fn see(received: &Received<Node<'static>>) {
    sync(received);
}

fn main() {
    let _ = see;
}
