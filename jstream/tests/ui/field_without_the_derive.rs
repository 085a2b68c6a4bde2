//! What a type consists of has to travel.

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
