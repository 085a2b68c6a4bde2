//! Nothing on the wire would tell which instance is meant.

use jstream::transportable;

#[transportable]
trait Shape<T> {
    fn area(&self) -> T;
}

fn main() {}
