//! All fields of a type must be transportable.

use jstream::Transportable;

struct Leg {
    price: f64,
}

#[derive(Transportable)]
struct Order {
    id: u64,
    leg: Leg,
}

fn main() {}
