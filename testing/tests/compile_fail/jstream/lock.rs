//! Data in a buffer must not change behind a shared reference.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    count: std::sync::Mutex<u8>,
}

fn main() {}
