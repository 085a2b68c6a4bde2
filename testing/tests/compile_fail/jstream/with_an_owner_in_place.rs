//! The value of an adapter must fit into the field, unless the field has a form.

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
#[transportable(no_to_owned)]
struct Turn {
    #[transportable(with = AsText)]
    by: Angle,
}

fn main() {}
