//! No option of a field is ignored.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    #[transportable(skipped)]
    id: u64,
}

fn main() {}
