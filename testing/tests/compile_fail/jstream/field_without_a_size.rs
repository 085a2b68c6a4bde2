//! A value without a size must lie behind a reference.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    id: u64,
    symbol: str,
}

#[derive(Transportable)]
struct Legs {
    all: [u8],
}

fn main() {}
