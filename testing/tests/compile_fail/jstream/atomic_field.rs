//! Data in a buffer must not change behind a shared reference.

use std::sync::atomic::AtomicU32;

use jstream::Transportable;

#[derive(Transportable)]
struct Counter {
    count: AtomicU32,
}

fn main() {}
