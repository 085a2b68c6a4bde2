//! A buffer that holds objects can't be written.

use jstream::{EmptyBuffer, Reader, Writer};

fn main() {
    let filled = Writer::new().write(&7u32, EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default().read::<u32>(filled).unwrap();
    let _ = Writer::new().write(&8u32, received);
}
