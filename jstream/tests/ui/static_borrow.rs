//! Nothing in a buffer lives for ever.

use jstream::Transportable;

#[derive(Transportable)]
struct Named {
    name: &'static str,
}

fn main() {}
