//! A field arrives as what its type says, whatever the attribute says.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    #[transportable(form = &'b [u8])]
    symbol: String,
}

fn main() {}
