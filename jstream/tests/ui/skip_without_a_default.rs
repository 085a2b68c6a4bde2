//! What does not travel is made where it arrives.

use jstream::Transportable;

struct Handle(u32);

#[derive(Transportable)]
struct Order {
    #[transportable(skip)]
    handle: Handle,
    id: u64,
}

fn main() {}
