//! A message is read as one type.

use jstream::{EmptyBuffer, Reader, Writer};

fn main() {
    let filled = Writer::new().write(&7u32, EmptyBuffer::heap(256)).unwrap();
    let number = Reader::default().read::<u32>(filled).unwrap();
    let bytes = Reader::default().read::<[u8; 4]>(filled).unwrap();
    println!("{} {:?}", number.get(), bytes.get());
}
