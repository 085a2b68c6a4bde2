//! A pointer that is not followed cannot be exclusive.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(opt_in)]
struct Column {
    #[transportable(exclusive)]
    values: Vec<f64>,
}

fn main() {}
