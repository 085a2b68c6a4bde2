//! Nothing that is changed where it lies leads to other parts of the buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct Column {
    #[transportable(exclusive)]
    names: Vec<String>,
}

fn main() {}
