//! Where an enum's data stands must be the language's promise.

use jstream::Transportable;

#[derive(Transportable)]
enum Shape {
    Point,
    Circle(f64),
}

fn main() {}
