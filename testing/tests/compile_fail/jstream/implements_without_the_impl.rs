//! A registered type must implement the trait.

use jstream::{Transportable, transportable};

#[transportable]
trait Shape {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle {
    radius: f64,
}

fn main() {}
