//! Where all pointers are followed none is marked.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(follow)]
    symbol: &'b str,
}

fn main() {}
