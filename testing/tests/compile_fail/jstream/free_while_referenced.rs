//! A buffer is not freed while something in it is referenced.

use jstream::{EmptyBuffer, Reader, Writer};

fn main() {
    let filled = Writer::new().write(&"abc", EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default().read::<&'static str>(filled).unwrap();
    let text = *received.get();
    drop(received);
    println!("{text}");
}
