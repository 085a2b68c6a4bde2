//! A lock that the derive can't see is found by the compiler.

use jstream::Transportable;

type Locked = std::sync::Mutex<u8>;

#[derive(Transportable)]
struct Order {
    count: Locked,
}

fn main() {}
