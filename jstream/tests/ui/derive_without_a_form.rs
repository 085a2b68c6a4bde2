//! What is to be derived for a form is not forgotten where there is none.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {}
