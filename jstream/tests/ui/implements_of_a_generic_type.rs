//! Which instances of a generic type are registered is not guessed.

use jstream::{Transportable, transportable};

#[transportable]
trait Shape {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle<T> {
    radius: T,
}

fn main() {}
