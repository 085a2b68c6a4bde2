//! A pointer that is not followed cannot be shared.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(opt_in)]
struct Order<'b> {
    #[transportable(shared)]
    next: Option<&'b u64>,
}

fn main() {}
