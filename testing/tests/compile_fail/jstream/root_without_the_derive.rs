//! Only what is transportable can be written.

use jstream::{EmptyBuffer, Writer};

struct Order {
    id: u64,
}

fn main() {
    let _ = Writer::new().write(&Order { id: 1 }, EmptyBuffer::heap(256));
}
