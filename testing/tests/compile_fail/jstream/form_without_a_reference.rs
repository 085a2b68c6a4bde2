//! A form that refers to nothing in the buffer is none.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(owned)]
struct Order {
    id: u64,
}

fn main() {}
