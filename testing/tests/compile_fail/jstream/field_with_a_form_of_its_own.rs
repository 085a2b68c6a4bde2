//! A type whose field has a form of its own has one, too. The error names the option that says so.

use jstream::Transportable;

#[derive(Transportable)]
struct Person {
    name: String,
}

#[derive(Transportable)]
struct Seat {
    row: u32,
    by: Person,
}

fn main() {}
