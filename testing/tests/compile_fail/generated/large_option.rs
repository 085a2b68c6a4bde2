//! The payload of an `Option` is made native beside its slot.

use jstream::{Filled, Reader, Received, Spent, Transportable};

#[derive(Transportable)]
struct Page {
    bytes: Option<[u8; 1025]>,
}

fn read(message: Filled) -> Received<Page> {
    Reader::default().read(message).unwrap()
}

fn main() {
    read(Spent::heap(0).copy_from(&[]).unwrap());
}
