//! An option that needs a value has one.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(verify)]
struct Order {
    id: u64,
}

fn main() {}
