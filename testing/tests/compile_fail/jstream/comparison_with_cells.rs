//! A comparison that follows cells may not end.

use std::cell::Cell;

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(compare)]
struct Link<'b> {
    name: String,
    next: Cell<Option<&'b Link<'b>>>,
}

fn main() {}
