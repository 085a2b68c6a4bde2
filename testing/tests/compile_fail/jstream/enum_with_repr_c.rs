//! The tag of an enum has a size of its own.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(C)]
enum Side {
    Buy,
    Sell,
}

fn main() {}
