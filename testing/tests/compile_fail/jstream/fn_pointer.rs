//! An address of this process means nothing to another.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    price: fn(u64) -> f64,
}

fn main() {}
