//! The owned type must be transportable and have a form.

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
