//! A function approves of objects of any lifetime.

use jstream::Transportable;

fn approve(_: &'static Order<'static>) -> Result<(), String> {
    Ok(())
}

#[derive(Transportable)]
#[transportable(verify = approve)]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {}
