//! The tag of a fieldless enum without `repr` is one byte, also if its value is computed.

use jstream::Transportable;

const LARGE: isize = 256;

#[derive(Transportable)]
enum Code {
    Small = 1,
    Large = LARGE,
}

fn main() {}
