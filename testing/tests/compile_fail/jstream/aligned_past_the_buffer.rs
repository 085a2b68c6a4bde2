//! Buffers are aligned to 128 bytes.

use jstream::{Filled, Reader, Received, Spent, Transportable};

#[derive(Transportable)]
#[repr(C, align(256))]
struct Page {
    id: u64,
}

fn read(message: Filled) -> Received<Page> {
    Reader::default().read(message).unwrap()
}

fn main() {
    read(Spent::heap(0).copy_from(&[]).unwrap());
}
