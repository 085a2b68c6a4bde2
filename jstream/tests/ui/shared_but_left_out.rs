//! What is left out is not shared.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(opt_in)]
struct Order<'b> {
    #[transportable(shared)]
    next: Option<&'b u64>,
}

fn main() {}
