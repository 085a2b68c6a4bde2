//! A transportable trait has no parameters: a message does not tell which instance is meant.

use jstream::transportable;

#[transportable]
trait Shape<T> {
    fn area(&self) -> T;
}

fn main() {}
