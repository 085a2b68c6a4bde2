//! A buffer of objects is sent as what it becomes when nobody refers to them: written anew.

use jstream::{Received, Writer};
use jstream_transport::{Endpoint, Header};

fn forward(endpoint: &Endpoint, received: Received<&'static str>) {
    let text = *received.get();
    let message = Writer::new().write(&"again", received.into_empty()).unwrap();
    endpoint.send_buffer(Header::default(), message).unwrap();
    println!("{text}");
}

fn main() {
    let _ = forward;
}
