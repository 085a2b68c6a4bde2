//! A message that is kept is kept whole.

use jstream_rmi::{Received, remote};

#[remote]
trait Store {
    fn put(&self, name: &str, values: Received<&'static [u64]>);
}

fn main() {}
