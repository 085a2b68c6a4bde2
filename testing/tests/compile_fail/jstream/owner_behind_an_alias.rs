//! An owner that the derive can't see is found by the compiler.

use jstream::Transportable;

type Text = String;

#[derive(Transportable)]
struct Named {
    name: Text,
}

fn main() {}
