//! An object of a stream is not used once the stream's jbuf is had back.

use jstream::{EmptyBuffer, Reader, StreamReader, StreamWriter, Writer};

fn main() {
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    stream.write(&mut Writer::new(), &"abc").unwrap();
    let stream = StreamReader::new(stream.finish());
    let text = stream.next::<&str>(&mut Reader::default()).unwrap();
    let empty = stream.into_empty();
    println!("{text} {}", empty.capacity());
}
