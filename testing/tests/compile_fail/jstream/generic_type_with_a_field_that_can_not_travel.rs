//! A type parameter changes nothing about other fields.

use jstream::Transportable;

type Address = *const u8;

#[derive(Transportable)]
struct Order<T> {
    of: T,
    at: Address,
}

fn main() {}
