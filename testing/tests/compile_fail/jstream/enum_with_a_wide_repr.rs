//! The tag of an enum has 64 bits at most.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(u128)]
enum Side {
    Buy,
    Sell,
}

fn main() {}
