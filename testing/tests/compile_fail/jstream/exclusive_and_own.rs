//! A type that is its own form has the same fields in a buffer.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(own)]
struct Column {
    #[transportable(exclusive)]
    values: Vec<f64>,
}

fn main() {}
