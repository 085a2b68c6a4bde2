//! An object of a stream is not used once the stream's jbuf is had back.

use jstream::{Reader, Spent, StreamReader, StreamWriter, Writer};

fn main() {
    let mut stream = StreamWriter::new(Spent::heap(256));
    stream.write(&mut Writer::new(), &"abc").unwrap();
    let stream = StreamReader::new(stream.finish());
    let text = stream.next::<&str>(&mut Reader::default()).unwrap();
    let spent = stream.into_spent();
    println!("{text} {}", spent.capacity());
}
