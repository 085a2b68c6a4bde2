//! Nothing says which field of a union is valid.

use jstream::Transportable;

#[derive(Transportable)]
#[repr(C)]
union Bits {
    number: u32,
    float: f32,
}

fn main() {}
