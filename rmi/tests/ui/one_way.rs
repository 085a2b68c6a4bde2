//! Nobody waits for the result of a one-way method, so it has none.

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
