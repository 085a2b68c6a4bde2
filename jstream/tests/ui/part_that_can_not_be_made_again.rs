//! What can not be made from its form can not be a part of what is.

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
