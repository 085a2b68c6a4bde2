//! A remote trait has only methods.

use jstream_rmi::remote;

#[remote]
trait Store {
    type Item;
    const SIZE: usize;
}

fn main() {}
