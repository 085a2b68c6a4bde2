//! Every object has all methods.

use jstream_rmi::remote;

#[remote]
trait Store {
    fn put(&self, value: u64)
    where
        Self: Sized;
}

fn main() {}
