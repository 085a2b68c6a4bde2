//! Generated code trusts the path, so its use is a promise.

use jstream::Transportable;

#[derive(Transportable)]
#[transportable(crate = jstream)]
struct Plain {
    value: u64,
}

#[jstream::transportable(crate = jstream)]
trait Named {
    fn name(&self) -> String;
}

fn main() {}
