//! References that the derive can't see are found by the compiler.

use jstream::Transportable;

type Name<'b> = &'b str;

#[derive(Transportable)]
struct Column<'b> {
    names: &'b mut [Name<'b>],
}

fn main() {}
