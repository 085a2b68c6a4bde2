//! A field whose type cannot be compared with its form.

use jstream::Transportable;

#[derive(Transportable)]
struct Person {
    name: String,
}

#[derive(Transportable)]
#[transportable(compare, owned)]
struct Team {
    name: String,
    members: Vec<Option<Person>>,
}

fn main() {}
