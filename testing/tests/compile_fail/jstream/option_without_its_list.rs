//! An option that needs a list has one.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(implements = Shape)]
struct Order {
    id: u64,
}

fn main() {}
