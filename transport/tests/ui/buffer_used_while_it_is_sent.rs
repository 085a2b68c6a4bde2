//! Sending takes the buffer: who gave it away does not look at it.

use jstream::Filled;
use jstream_transport::{Header, Sender};

fn send(sender: &mut Sender, message: Filled) {
    sender.send_filled(Header::default(), message).unwrap();
    println!("{:?}", message.as_bytes());
}

fn main() {
    let _ = send;
}
