//! The tag of a fieldless enum without `repr` is one byte.

use jstream::Transportable;

#[derive(Transportable)]
enum Code {
    Small = 1,
    Large = 256,
}

fn main() {}
