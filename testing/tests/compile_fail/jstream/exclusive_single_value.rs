//! Only slices arrive exclusively.

use jstream::Transportable;

#[derive(Transportable)]
struct Column {
    #[transportable(exclusive)]
    value: Box<f64>,
}

fn main() {}
