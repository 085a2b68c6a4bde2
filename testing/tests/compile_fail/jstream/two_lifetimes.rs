//! All references in a buffer live as long as the buffer.

use jstream::Transportable;

#[derive(Transportable)]
struct Two<'a, 'b> {
    first: &'a str,
    second: &'b str,
}

fn main() {}
