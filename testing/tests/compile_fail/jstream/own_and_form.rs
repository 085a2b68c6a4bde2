//! A type that is its own form has the same fields in a buffer.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(own)]
struct Order<'b> {
    #[transportable(form = &'b str)]
    symbol: &'b str,
}

fn main() {}
