//! The wire value of an adapter replaces the field, so it must fit into it.

use jstream::{Adapter, Transportable};

#[derive(Clone)]
struct Angle(u8);

struct Wide;

impl Adapter<Angle> for Wide {
    type Wire = u64;
    type Error = &'static str;

    fn to_wire(of: &Angle) -> u64 {
        of.0.into()
    }

    fn from_wire(of: &u64) -> Result<Angle, &'static str> {
        u8::try_from(*of).map(Angle).map_err(|_| "no angle")
    }
}

#[derive(Transportable)]
struct Turn {
    id: u32,
    #[transportable(with = Wide)]
    by: Angle,
}

fn main() {}
