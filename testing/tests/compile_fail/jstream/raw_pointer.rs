//! An address of this process means nothing to another.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    symbol: *const u8,
}

fn main() {}
