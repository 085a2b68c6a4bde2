//! An adapter's value is no reference.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(with = Adapter, shared)]
    symbol: &'b str,
}

fn main() {}
