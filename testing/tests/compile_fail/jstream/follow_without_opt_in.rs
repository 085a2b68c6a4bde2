//! A pointer cannot be marked if all pointers are followed.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(follow)]
    symbol: &'b str,
}

fn main() {}
