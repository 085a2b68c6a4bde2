//! The other node could not know the types.

use jstream_rmi::remote;

#[remote]
trait Store {
    fn put<T>(&self, value: &T);
    fn all(&self, values: impl Iterator<Item = u8>);
}

fn main() {}
