//! A value that arrives unchanged must be `Clone` to be restored.

use jstream::{Adapter, Transportable};

struct Angle(f64);

struct AsText;

impl Adapter<Angle> for AsText {
    type Wire = u8;
    type Error = &'static str;

    fn to_wire(_: &Angle) -> u8 {
        0
    }

    fn from_wire(_: &u8) -> Result<Angle, &'static str> {
        Err("no angle")
    }
}

#[derive(Transportable)]
struct Turn {
    #[transportable(with = AsText)]
    by: Angle,
}

fn main() {}
