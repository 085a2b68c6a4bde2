//! A buffer cannot be borrowed while the device has it.

use jstream::Filled;
use jstream_transport::{Endpoint, Header};

fn send(endpoint: &Endpoint, message: Filled) {
    let bytes = message.as_bytes();
    endpoint.send_filled(Header::default(), message).unwrap();
    println!("{bytes:?}");
}

fn main() {
    let _ = send;
}
