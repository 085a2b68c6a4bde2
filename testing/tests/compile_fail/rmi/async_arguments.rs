//! The arguments of an async method stay in the buffer while it waits, on whichever thread.

use std::cell::Cell;

use jstream::Transportable;
use jstream_rmi::remote;

#[derive(Transportable)]
struct Link<'b> {
    next: Cell<Option<&'b Link<'b>>>,
}

#[remote]
trait Follows {
    fn at_once(&self, link: &Link<'_>) -> u64;
    async fn later(&self, n: u32, link: &Link<'_>) -> u64;
}

fn main() {}
