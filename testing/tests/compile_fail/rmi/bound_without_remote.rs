//! Only remote traits can be served.

use jstream_rmi::Server;
use std::sync::Arc;

trait Store: Send + Sync {}

struct Plain;

impl Store for Plain {}

fn main() {
    let server = Server::default();
    let _ = server.bind::<dyn Store>("store", Arc::new(Plain));
}
