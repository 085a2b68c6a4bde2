//! A buffer cannot be borrowed while the device has it.

use jstream::MessageBuffer;
use jstream_transport::{Endpoint, Header};

fn send(endpoint: &Endpoint, message: MessageBuffer) {
    let bytes = message.as_bytes();
    endpoint.send_buffer(Header::default(), message).unwrap();
    println!("{bytes:?}");
}

fn main() {
    let _ = send;
}
