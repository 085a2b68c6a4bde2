//! A shared object cannot be modified.

use jstream::Transportable;

#[derive(Transportable)]
struct Column<'b> {
    #[transportable(exclusive, shared)]
    values: Vec<&'b [f64]>,
}

fn main() {}
