//! What a type parameter is given to has to travel, and to stand in a buffer.

use jstream::Transportable;

struct Pair<T>(T, T);

#[derive(Transportable)]
struct Order<T> {
    of: Pair<T>,
}

fn main() {}
