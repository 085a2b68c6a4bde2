//! A ticket of a scope cannot leave the scope.

use std::io::IoSlice;

use jstream_transport::{Endpoint, Header};

fn post(endpoint: &Endpoint, memory: &[u8]) {
    let ticket =
        endpoint.scope(|scope| scope.post_send(Header::default(), &[IoSlice::new(memory)]));
    ticket.wait().unwrap();
}

fn main() {
    let _ = post;
}
