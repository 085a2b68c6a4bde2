//! A generic form aligned to more than a jbuf is found when it is written.

use jstream::{EmptyBuffer, Transportable, Writer};

#[derive(Transportable)]
#[repr(C, align(256))]
struct Page<const N: usize> {
    bytes: [u8; N],
}

fn main() {
    let _ = Writer::new().write(&Page { bytes: [7] }, EmptyBuffer::heap(4096));
}
