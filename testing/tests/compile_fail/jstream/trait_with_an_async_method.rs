//! A trait object has no async methods.

use jstream::transportable;

#[transportable]
trait Shape {
    async fn area(&self) -> f64;
}

fn main() {}
