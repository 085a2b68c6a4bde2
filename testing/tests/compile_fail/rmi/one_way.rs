//! A one-way method has no result.

use jstream_rmi::remote;

#[remote]
trait Log {
    #[remote(one_way)]
    fn write(&self, line: &str) -> u64;
    #[remote(one_way, idempotent)]
    fn clear(&self);
    #[remote(twice)]
    fn twice(&self);
}

fn main() {}
