//! A type either is its own form or has another.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(own, owned)]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {}
