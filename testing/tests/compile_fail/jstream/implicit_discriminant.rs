//! The tag of a fieldless enum without `repr` is one byte, also if its value follows from another.

use jstream::Transportable;

#[derive(Transportable)]
enum Code {
    Small = 0xff,
    Large,
}

fn main() {}
