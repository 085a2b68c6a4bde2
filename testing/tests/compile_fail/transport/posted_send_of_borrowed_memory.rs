//! A posted send may be forgotten, so it takes a jbuf and borrows nothing.

use std::io::IoSlice;

use jstream_transport::{Endpoint, Header};

fn post(endpoint: &Endpoint, memory: &[u8]) {
    let ticket = endpoint.post_send(Header::default(), &[IoSlice::new(memory)]);
    std::mem::forget(ticket);
}

fn main() {
    let _ = post;
}
