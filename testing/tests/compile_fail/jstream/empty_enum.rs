//! No message holds a value of a type that has none.

use jstream::Transportable;

#[derive(Transportable)]
enum Never {}

fn main() {}
