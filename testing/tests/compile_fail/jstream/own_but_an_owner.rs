//! Data in a buffer owns no memory, whatever the attribute says.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(own)]
struct Order {
    symbol: String,
}

fn main() {}
