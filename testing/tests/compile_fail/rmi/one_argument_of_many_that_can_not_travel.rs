//! Each argument and the result must be transportable.

use jstream_rmi::remote;

struct Handle(#[allow(dead_code)] u64);

#[remote]
trait Store {
    fn put(&self, key: u64, handle: &Handle, name: &str);
    fn get(&self, key: u64) -> Handle;
}

fn main() {}
