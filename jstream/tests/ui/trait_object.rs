//! Nothing says which type a trait object is.

use jstream::Transportable;

trait Shape {}

#[derive(Transportable)]
struct Drawing<'b> {
    shape: &'b dyn Shape,
}

fn main() {}
