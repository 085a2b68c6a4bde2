//! Data in a buffer must not change behind a shared reference.

use std::cell::Cell;

use jstream::Transportable;

#[derive(Transportable)]
struct Counter {
    count: Cell<u32>,
}

fn main() {}
