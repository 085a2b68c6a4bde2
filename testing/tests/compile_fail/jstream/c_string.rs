//! The error for a type without a form names an alternative.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    name: std::ffi::CString,
}

fn main() {}
