//! A trait object has no generic methods.

use jstream::transportable;

#[transportable]
trait Shape {
    fn scale<T: Into<f64>>(&self, by: T) -> f64;
}

fn main() {}
