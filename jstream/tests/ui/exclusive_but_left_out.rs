//! What is left out is not changed.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(opt_in)]
struct Column {
    #[transportable(exclusive)]
    values: Vec<f64>,
}

fn main() {}
