//! A value that holds pointers can't be written in place.

use jstream::{EmptyBuffer, StreamWriter, Writer};

fn main() {
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    let place = stream.uninit_value::<&str>(&mut Writer::new()).unwrap();
    place.write("abc");
}
