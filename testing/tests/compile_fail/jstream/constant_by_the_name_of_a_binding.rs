//! A constant must not stand in for a binding of generated code: the field would go unseen, and
//! with it that it is not aligned where an attribute below the derive packs the type.

use jstream::Transportable;

#[derive(PartialEq, Eq)]
struct Mark;

impl Default for &'static Mark {
    fn default() -> Self {
        &Mark
    }
}

#[allow(non_upper_case_globals)]
const __part_1: &Mark = &Mark;

#[derive(Transportable)]
struct Marked {
    number: u8,
    #[transportable(skip)]
    mark: &'static Mark,
}

fn main() {}
