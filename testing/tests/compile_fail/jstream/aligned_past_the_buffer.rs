//! Buffers are aligned to 128 bytes.

use jstream::{EmptyBuffer, MessageBuffer, Reader, Received, Transportable};

#[derive(Transportable)]
#[repr(C, align(256))]
struct Page {
    id: u64,
}

fn read(message: MessageBuffer) -> Received<Page> {
    Reader::default().read(message).unwrap()
}

fn main() {
    read(EmptyBuffer::heap(0).copy_from(&[]).unwrap());
}
