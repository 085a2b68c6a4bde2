//! While a scope lends memory to the device, nobody changes it.

use std::io::IoSlice;

use jstream_transport::{Endpoint, Header};

fn post(endpoint: &Endpoint, memory: &mut [u8]) {
    endpoint.scope(|scope| {
        let ticket = scope.post_send(Header::default(), &[IoSlice::new(memory)]);
        memory.fill(0);
        ticket.wait().unwrap();
    });
}

fn main() {
    let _ = post;
}
