//! A trait object must be of a registered, transportable trait.

use jstream::Transportable;

trait Shape {}

#[derive(Transportable)]
struct Drawing<'b> {
    shape: &'b dyn Shape,
}

fn main() {}
