//! A correct use of everything that the other programs use incorrectly.

use jstream::{Received, Writer};
use jstream_transport::{Endpoint, Header};

fn forward(endpoint: &Endpoint, received: Received<&'static str>) {
    let length = received.get().len();
    let message = Writer::new().write(&"again", received.into_empty()).unwrap();
    println!("{length} {:?}", message.as_bytes());
    if let Err(unsent) = endpoint.send_buffer(Header::default(), message) {
        println!("{:?}", unsent.filled.as_bytes());
    }
}

fn main() {
    let _ = forward;
}
