//! Nobody refers to a buffer while the device has it.

use jstream::Filled;
use jstream_transport::{Header, Sender};

fn send(sender: &mut Sender, message: Filled) {
    let bytes = message.as_bytes();
    sender.send_filled(Header::default(), message).unwrap();
    println!("{bytes:?}");
}

fn main() {
    let _ = send;
}
