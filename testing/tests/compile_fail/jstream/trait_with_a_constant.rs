//! A trait object has no constants.

use jstream::transportable;

#[transportable]
trait Shape {
    const CORNERS: usize;
}

fn main() {}
