//! Methods run to their end.

use jstream_rmi::remote;

#[remote]
trait Store {
    async fn wait(&self) -> u64;
    unsafe fn touch(&self);
}

fn main() {}
