//! A reference does not see what its buffer is used for next.

use jstream::{EmptyBuffer, Reader, Writer};

fn main() {
    let filled = Writer::new().write(&"abc", EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default().read::<&'static str>(filled).unwrap();
    let text = *received.get();
    let again = Writer::new().write(&"xyz", received.into_empty()).unwrap();
    println!("{text} {}", again.len());
}
