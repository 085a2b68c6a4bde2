//! A transportable trait is implemented by what can travel.

use jstream::transportable;

#[transportable]
trait Shape {}

struct Circle {
    radius: f64,
}

impl Shape for Circle {}

fn main() {}
