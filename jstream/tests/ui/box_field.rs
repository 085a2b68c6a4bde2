//! What owns its memory can't stand in a buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct List {
    id: u64,
    next: Option<Box<List>>,
}

fn main() {}
