//! Reading takes the message: its bytes are objects now.

use jstream::{EmptyBuffer, Reader, Writer};

fn main() {
    let filled = Writer::new().write(&7u32, EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default().read::<u32>(filled).unwrap();
    println!("{} {:?}", received.get(), filled.as_bytes());
}
