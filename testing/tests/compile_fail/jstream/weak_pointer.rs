//! A pointer that may lead nowhere is an optional one.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    parent: std::rc::Weak<u8>,
}

fn main() {}
