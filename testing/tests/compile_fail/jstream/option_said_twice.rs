//! Of two contradicting values none is chosen.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(crate = jstream, crate = other)]
struct Order {
    id: u64,
}

fn main() {}
