//! Variants are mirrored in structs of their own, where `Self` is another type.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(u8)]
enum Shape<'b> {
    Point,
    Nested(&'b Self),
}

fn main() {}
