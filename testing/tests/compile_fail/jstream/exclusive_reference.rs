//! Data in a buffer is never borrowed exclusively.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b mut str,
}

fn main() {}
