//! A misspelled option is not ignored.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(krate = jstream)]
struct Order {
    id: u64,
}

fn main() {}
