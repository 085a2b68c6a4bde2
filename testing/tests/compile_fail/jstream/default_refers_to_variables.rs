//! A default does not see the variables of generated code.

use jstream::Transportable;

#[derive(Transportable)]
struct Order {
    #[transportable(default = { __schema.descriptor(__index) })]
    number: u64,
}

fn main() {}
