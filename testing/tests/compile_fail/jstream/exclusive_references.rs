//! The elements of an exclusive slice have no pointers into the buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct Column<'b> {
    names: &'b mut [&'b str],
}

fn main() {}
