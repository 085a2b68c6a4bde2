//! All errors are shown, whatever found them.

use jstream_rmi::remote;

#[remote(name = "store")]
trait Store<T> {
    type Item;
    fn put(&self, (a, b): (u64, u64));
    fn pair(&self, _: u64, name: String);
    fn flag(&self, #[cfg(all())] on: bool);
    async fn wait(&self);
}

fn main() {}
