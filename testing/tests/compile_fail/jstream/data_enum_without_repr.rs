//! The language must guarantee the layout of an enum with data.

use jstream::Transportable;

#[derive(Transportable)]
enum Shape {
    Point,
    Circle(f64),
}

fn main() {}
