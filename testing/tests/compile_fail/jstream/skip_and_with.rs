//! A skipped field has no adapter.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    #[transportable(skip, with = Adapter)]
    id: u64,
}

fn main() {}
