//! An adapter is for the field's type.

use jstream::Transportable;

struct Angle(f64);

struct AsRadians;

#[derive(Transportable)]
#[transportable(no_to_owned)]
struct Turn {
    #[transportable(with = AsRadians)]
    by: Angle,
}

fn main() {}
