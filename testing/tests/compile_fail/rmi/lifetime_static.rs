//! An argument lives as long as the call.

use jstream_rmi::{Received, remote};

#[remote]
trait Store {
    fn put(&self, name: &'static str, of: &u64);
    fn all(&self, names: &[Option<&'static str>]);
    fn keep(&self, name: Received<&'static str>);
}

fn main() {}
