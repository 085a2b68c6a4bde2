//! Writing takes the buffer: it holds a message now.

use jstream::{EmptyBuffer, Writer};

fn main() {
    let mut empty = EmptyBuffer::heap(256);
    let filled = Writer::new().write(&7u32, empty).unwrap();
    empty.uninit_mut()[0].write(0);
    println!("{}", filled.len());
}
