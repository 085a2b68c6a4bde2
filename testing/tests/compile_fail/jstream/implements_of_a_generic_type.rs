//! The instances of a generic type must be registered explicitly.

use jstream::{Transportable, transportable};

#[transportable]
trait Shape {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle<T> {
    radius: T,
}

fn main() {}
