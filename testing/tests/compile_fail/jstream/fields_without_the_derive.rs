//! Each field that can not travel is an error of its own.

use jstream::Transportable;

struct Leg {
    price: f64,
}

#[derive(Transportable)]
struct Order<'b> {
    first: &'b Leg,
    id: u64,
    others: &'b [Leg],
}

fn main() {}
