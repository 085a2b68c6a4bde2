//! A function approves of the field that it is for.

use jstream::Transportable;

fn approve(_: &u16) -> Result<(), &'static str> {
    Ok(())
}

#[derive(Transportable)]
struct Order {
    #[transportable(verify = approve)]
    id: u64,
}

fn main() {}
