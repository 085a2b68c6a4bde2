//! Of two contradicting values none is chosen.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(crate = unsafe(jstream), crate = unsafe(other))]
struct Order {
    id: u64,
}

fn main() {}
