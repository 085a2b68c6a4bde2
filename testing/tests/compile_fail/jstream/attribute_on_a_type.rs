//! The attribute is for traits.

use jstream::transportable;

#[transportable]
struct Order {
    id: u64,
}

fn main() {}
