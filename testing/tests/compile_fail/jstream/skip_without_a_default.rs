//! A skipped field needs a default value.

use jstream::Transportable;

struct Handle(u32);

#[derive(Transportable)]
struct Order {
    #[transportable(skip)]
    handle: Handle,
    id: u64,
}

fn main() {}
