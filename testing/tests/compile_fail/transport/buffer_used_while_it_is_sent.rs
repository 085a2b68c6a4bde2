//! Sending takes the buffer: who gave it away does not look at it.

use jstream::MessageBuffer;
use jstream_transport::{Endpoint, Header};

fn send(endpoint: &Endpoint, message: MessageBuffer) {
    endpoint.send_buffer(Header::default(), message).unwrap();
    println!("{:?}", message.as_bytes());
}

fn main() {
    let _ = send;
}
