//! A value that is not the field's in a message has no default.

use jstream::{Adapter, Transportable};

struct AsText;

impl Adapter<u32> for AsText {
    type Wire = u32;
    type Error = &'static str;

    fn to_wire(number: &u32) -> u32 {
        *number
    }

    fn from_wire(number: &u32) -> Result<u32, &'static str> {
        Ok(*number)
    }
}

#[derive(Transportable)]
struct Adapted {
    #[transportable(with = AsText, default)]
    number: u32,
    #[transportable(default = 7, with = AsText)]
    other: u32,
}

#[derive(Transportable)]
struct Skipped {
    #[transportable(skip, default = 1)]
    number: u32,
    #[transportable(renamed_from = "old", skip)]
    other: u32,
    #[transportable(skip, narrow, must_understand)]
    last: u32,
}

#[derive(Transportable)]
struct Shared<'b> {
    #[transportable(shared, default = "text")]
    text: &'b str,
}

fn main() {}
