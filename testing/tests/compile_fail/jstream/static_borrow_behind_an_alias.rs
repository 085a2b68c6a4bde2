//! A lifetime that the derive can't see is found by the compiler.

use jstream::Transportable;

type Text = &'static str;

#[derive(Transportable)]
struct Named {
    name: Text,
}

fn main() {}
