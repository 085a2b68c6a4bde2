//! The payload of a variant must be transportable.

use jstream::Transportable;

struct Leg {
    price: f64,
}

#[derive(Transportable)]
#[repr(u8)]
enum Order<'b> {
    None,
    One(&'b Leg),
    Named { name: &'b str },
}

fn main() {}
