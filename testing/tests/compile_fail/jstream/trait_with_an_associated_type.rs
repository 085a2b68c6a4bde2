//! A transportable trait has no associated types: a message does not tell which one is meant.

use jstream::transportable;

#[transportable]
trait Shape {
    type Unit;
}

fn main() {}
