//! What a type owns has to travel, and has a form.

use jstream::Transportable;

struct Leg {
    price: f64,
}

#[derive(Transportable)]
struct Order {
    symbol: String,
    legs: Vec<Leg>,
}

fn main() {}
