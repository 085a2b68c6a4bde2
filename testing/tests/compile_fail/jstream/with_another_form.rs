//! The form of a field with an adapter is that of what the adapter sends.

use jstream::{Adapter, Transportable};

struct Angle(f64);

struct AsText;

impl Adapter<Angle> for AsText {
    type Wire = String;
    type Error = &'static str;

    fn to_wire(_: &Angle) -> String {
        String::new()
    }

    fn from_wire(_: &&str) -> Result<Angle, &'static str> {
        Err("no angle")
    }
}

#[derive(Transportable)]
struct Turn {
    #[transportable(with = AsText, form = &'b [u8])]
    by: Angle,
}

fn main() {}
