//! The target of a shared reference must be transportable.

use jstream::Transportable;

struct Leg {
    price: f64,
}

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(shared)]
    leg: &'b Leg,
}

fn main() {}
