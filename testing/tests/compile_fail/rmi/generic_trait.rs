//! The other node could not know the types.

use jstream_rmi::remote;

#[remote]
trait Store<T> {
    fn get(&self) -> T;
}

fn main() {}
