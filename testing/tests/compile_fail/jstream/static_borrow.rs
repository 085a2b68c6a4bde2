//! Data in a buffer is never `'static`.

use jstream::Transportable;

#[derive(Transportable)]
struct Named {
    name: &'static str,
}

fn main() {}
