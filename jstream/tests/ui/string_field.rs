//! What owns its memory can't stand in a buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct Named {
    name: String,
}

fn main() {}
