//! An address that the derive can't see is found by the compiler.

use jstream::Transportable;

type Address = *const u8;

#[derive(Transportable)]
struct Order {
    symbol: Address,
}

fn main() {}
