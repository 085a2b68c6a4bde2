//! A type that is its own form is compared by `PartialEq`.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(compare)]
struct Point {
    x: f64,
}

fn main() {}
