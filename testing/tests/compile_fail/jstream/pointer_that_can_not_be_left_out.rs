//! Without a mark a pointer is left out, so there has to be a value for that.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(opt_in)]
struct Order<'b> {
    leg: &'b u64,
}

fn main() {}
