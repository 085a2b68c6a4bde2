//! A function approves of the type that it is for.

use jstream::Transportable;

fn approve(_: &u16) -> Result<(), &'static str> {
    Ok(())
}

#[derive(Transportable)]
#[transportable(verify = approve)]
struct Order {
    id: u64,
}

fn main() {}
