//! Arguments have names.

use jstream_rmi::remote;

#[remote]
trait Store {
    fn put(&self, (a, b): (u64, u64)) {}
}

fn main() {}
