//! Nothing on the wire would tell which type is meant.

use jstream::transportable;

#[transportable]
trait Shape {
    type Unit;
}

fn main() {}
