//! The attribute alone says nothing.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable]
struct Order {
    id: u64,
}

fn main() {}
