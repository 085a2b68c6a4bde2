//! A field has one form.

use jstream::Transportable;

#[derive(Transportable)]
struct Column {
    #[transportable(exclusive, form = &'b [f64])]
    values: Vec<f64>,
}

fn main() {}
