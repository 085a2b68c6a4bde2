//! A union is not transportable: no tag tells which field is valid.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(C)]
union Bits {
    number: u32,
    float: f32,
}

fn main() {}
