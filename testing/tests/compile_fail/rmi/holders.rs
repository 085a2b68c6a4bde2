//! An object whose methods take `&mut self` is served alone, any other one shared.

use std::sync::Arc;

use jstream_rmi::{Exclusive, Server, remote};

#[remote]
trait Counter {
    fn add(&mut self, n: u64) -> u64;
}

#[remote]
trait Names {
    fn first(&self) -> String;
}

struct Plain;

impl Counter for Plain {
    fn add(&mut self, n: u64) -> u64 {
        n
    }
}

impl Names for Plain {
    fn first(&self) -> String {
        String::new()
    }
}

fn main() {
    let server = Server::default();
    let _ = server.bind::<dyn Counter>("counter", Arc::new(Plain));
    let _ = server.bind::<dyn Names>("names", Exclusive::new(Plain));
    let _ = server.bind::<dyn Names>("names", Plain);
}
