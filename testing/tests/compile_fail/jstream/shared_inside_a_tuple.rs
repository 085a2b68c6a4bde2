//! References are shared where the language says how they are laid out.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(shared)]
    pair: (&'b str, u8),
}

fn main() {}
