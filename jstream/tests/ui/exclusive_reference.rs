//! Nothing in a buffer is borrowed exclusively.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b mut str,
}

fn main() {}
