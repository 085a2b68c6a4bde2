//! The elements of an exclusive slice have no pointers into the buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct Column {
    #[transportable(exclusive)]
    names: Vec<String>,
}

fn main() {}
