//! Rules of arguments are known ones, of arguments that can have them.

use jstream_rmi::{Received, Remote, Stream, remote};

#[remote]
trait Store {
    fn put(&self, #[remote(optional)] count: u32);
    fn keep(&self, #[remote(default)] all: Received<u64>);
    fn sum(&self, #[remote(default)] items: Stream<u64>);
    fn pass(&self, #[remote(default)] other: Remote<dyn Store>);
}

fn main() {}
