//! Nothing that is changed where it lies leads to other parts of the buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct Column<'b> {
    names: &'b mut [&'b str],
}

fn main() {}
