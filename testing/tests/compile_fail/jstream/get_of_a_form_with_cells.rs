//! Of a form with cells no shorter lifetime is handed out: what has it could be stored.

use std::cell::Cell;

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    name: &'b str,
    next: Cell<Option<&'b Node<'b>>>,
}

fn name<'r>(received: &'r Received<Node<'static>>) -> &'r str {
    received.get().name
}

fn main() {
    let _ = name;
}
