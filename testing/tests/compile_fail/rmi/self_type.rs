//! The other node does not know the object's type.

use jstream_rmi::remote;

#[remote]
trait Store {
    fn merge(&self, other: &Self);
    fn replace(&self, other: Self) -> Self
    where
        Self: Sized;
}

fn main() {}
