//! Memory that is posted in a scope must outlive the scope.

use std::io::IoSlice;

use jstream_transport::{Endpoint, Header};

fn post(endpoint: &Endpoint) {
    endpoint.scope(|scope| {
        let memory = vec![1; 1000];
        let ticket = scope.post_send(Header::default(), &[IoSlice::new(&memory)]);
        ticket.wait().unwrap();
    });
}

fn main() {
    let _ = post;
}
