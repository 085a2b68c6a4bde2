//! The argument of a type parameter must be transportable and have an in-place form.

use jstream::Transportable;

struct Pair<T>(T, T);

#[derive(Transportable)]
struct Order<T> {
    of: Pair<T>,
}

fn main() {}
