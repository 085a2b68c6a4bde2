//! Callers share the object.

use jstream_rmi::remote;

#[remote]
trait Store {
    fn clear(&mut self);
    fn consume(self);
    fn new(capacity: u64) -> u64;
}

fn main() {}
