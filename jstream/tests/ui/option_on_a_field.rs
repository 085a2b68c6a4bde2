//! Fields have no options, and none is ignored.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    #[transportable(skip)]
    id: u64,
}

fn main() {}
