//! Options are known ones.

use jstream_rmi::remote;

#[remote(name = "store")]
trait Store {
    fn clear(&self);
}

fn main() {}
