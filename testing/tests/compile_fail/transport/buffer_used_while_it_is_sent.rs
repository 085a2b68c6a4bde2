//! Sending takes the buffer: who gave it away does not look at it.

use jstream::Filled;
use jstream_transport::{Endpoint, Header};

fn send(endpoint: &Endpoint, message: Filled) {
    endpoint.send_filled(Header::default(), message).unwrap();
    println!("{:?}", message.as_bytes());
}

fn main() {
    let _ = send;
}
