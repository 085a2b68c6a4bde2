//! A stream is read by one thread at a time.

use jstream::{EmptyBuffer, Reader, StreamReader};

fn main() {
    let stream = StreamReader::new(EmptyBuffer::heap(256).copy_from(&[]).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| stream.next::<u32>(&mut Reader::default()).is_ok());
        scope.spawn(|| stream.next::<u32>(&mut Reader::default()).is_ok());
    });
}
