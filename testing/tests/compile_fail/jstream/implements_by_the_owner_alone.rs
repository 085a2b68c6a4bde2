//! The in-place form must implement the trait.

use jstream::{Transportable, transportable};

#[transportable]
trait Shape {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle {
    name: String,
}

impl Shape for Circle {}

fn main() {}
