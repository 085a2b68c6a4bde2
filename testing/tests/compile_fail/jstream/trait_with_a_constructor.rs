//! A trait object has no functions without a receiver.

use jstream::transportable;

#[transportable]
trait Shape {
    fn new() -> Box<Self>;
}

fn main() {}
