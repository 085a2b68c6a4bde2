//! The users of a trait with errors get no further errors.

use jstream_rmi::{Client, Server, remote};
use std::sync::Arc;

#[remote]
trait Store {
    type Item;
    fn get(&self, key: u64) -> u64;
    fn put(&self, name: String);
    fn map<T>(&self, of: T);
    fn clear(self);
    fn new() -> u64;
    async fn wait(&self);
    fn opaque(&self) -> impl Sized;
}

#[remote]
trait Generic<T> {
    fn get(&self) -> T;
}

fn serve(server: &Server, store: Arc<dyn Store>, generic: Arc<dyn Generic<u64>>) {
    server.bind::<dyn Store>("store", store).unwrap();
    server.bind::<dyn Generic<u64>>("generic", generic).unwrap();
}

fn call(client: &Client) -> u64 {
    let store: StoreStub = client.lookup::<dyn Store>("store").wait().unwrap();
    let _ = store.put(String::new());
    *store.get(1).wait().unwrap().get()
}

fn main() {
    let _ = (serve, call);
}
