//! A type by the name of a plain value, which owns something.

use jstream::Transportable;

#[derive(Transportable)]
struct Duration {
    text: String,
}

#[derive(Transportable)]
struct Order {
    symbol: String,
    length: Duration,
}

fn main() {}
