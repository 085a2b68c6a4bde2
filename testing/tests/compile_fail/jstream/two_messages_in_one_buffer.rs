//! A buffer is written once.

use jstream::{Spent, Writer};

fn main() {
    let spent = Spent::heap(256);
    let first = Writer::new().write(&7u32, spent).unwrap();
    let second = Writer::new().write(&"abc", spent).unwrap();
    println!("{} {}", first.len(), second.len());
}
