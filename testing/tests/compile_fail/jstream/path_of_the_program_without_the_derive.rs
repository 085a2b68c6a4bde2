//! A type `Path` of the program is not the one of the standard library.

use jstream::Transportable;

struct Path {
    steps: Vec<u8>,
}

#[derive(Transportable)]
struct Drawing {
    outline: Box<Path>,
}

fn main() {}
