//! Variants have other options than fields.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(u8)]
enum Shape {
    #[transportable(skip)]
    Point,
    Circle(f64),
}

fn main() {}
