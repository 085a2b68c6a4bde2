//! The payload of an `Option` is made native beside its slot.

use jstream::{EmptyBuffer, MessageBuffer, Reader, Received, Transportable};

#[derive(Transportable)]
struct Page {
    bytes: Option<[u8; 1025]>,
}

fn read(message: MessageBuffer) -> Received<Page> {
    Reader::default().read(message).unwrap()
}

fn main() {
    read(EmptyBuffer::heap(0).copy_from(&[]).unwrap());
}
