//! All errors are said at once.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Order<'a, 'b> {
    symbol: &'a mut str,
    price: fn(u64) -> f64,
    #[transportable(follow)]
    leg: &'b u8,
}

fn main() {}
