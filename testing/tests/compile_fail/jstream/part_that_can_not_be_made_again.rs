//! A type can be restored only if all its parts can be.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(no_to_owned)]
struct Name {
    text: String,
}

#[derive(Transportable)]
struct Player {
    name: Name,
    rank: String,
}

fn main() {}
