//! The tag of a fieldless enum without `repr` is an unsigned byte.

use jstream::Transportable;

#[derive(Transportable)]
enum Code {
    Less = -1,
    More = 1,
}

fn main() {}
