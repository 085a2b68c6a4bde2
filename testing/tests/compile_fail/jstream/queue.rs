//! An owner without an in-place form.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    legs: std::collections::VecDeque<u8>,
}

fn main() {}
