//! Objects of a trait travel if the trait says so.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle {
    radius: f64,
}

trait Shape {}

impl Shape for Circle {}

fn main() {}
