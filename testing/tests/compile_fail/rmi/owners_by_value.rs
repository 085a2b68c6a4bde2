//! Arguments are references into the receive buffer.

use jstream_rmi::remote;

#[remote]
trait Store {
    fn put(&self, name: String, values: Vec<u64>, next: Box<u64>);
}

fn main() {}
