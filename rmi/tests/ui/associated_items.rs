//! Nothing but methods can be asked of another node.

use jstream_rmi::remote;

#[remote]
trait Store {
    type Item;
    const SIZE: usize;
}

fn main() {}
