//! Only references can be shared.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(shared)]
    id: u64,
    symbol: &'b str,
}

fn main() {}
