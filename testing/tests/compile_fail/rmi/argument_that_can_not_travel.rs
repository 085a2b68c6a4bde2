//! Arguments must be transportable.

use jstream_rmi::remote;

struct Handle(#[allow(dead_code)] u64);

#[remote]
trait Store {
    fn put(&self, handle: &Handle);
}

fn main() {}
