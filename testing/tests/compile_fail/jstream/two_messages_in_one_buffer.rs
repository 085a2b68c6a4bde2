//! A buffer is written once.

use jstream::{EmptyBuffer, Writer};

fn main() {
    let empty = EmptyBuffer::heap(256);
    let first = Writer::new().write(&7u32, empty).unwrap();
    let second = Writer::new().write(&"abc", empty).unwrap();
    println!("{} {}", first.len(), second.len());
}
