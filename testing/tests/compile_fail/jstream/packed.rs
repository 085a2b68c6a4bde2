//! No reference to a field of a packed type could be handed out.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(C, packed)]
struct Packed {
    tag: u8,
    id: u64,
}

fn main() {}
