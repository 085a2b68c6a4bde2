//! Derives for a form are an error if there is no form.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {}
