//! The error for a type without a form names an alternative.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    file: std::path::PathBuf,
}

fn main() {}
