//! What is registered as an implementation is one.

use jstream::{Transportable, transportable};

#[transportable]
trait Shape {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle {
    radius: f64,
}

fn main() {}
