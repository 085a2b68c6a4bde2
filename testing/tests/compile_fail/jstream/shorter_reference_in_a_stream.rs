//! A cell of an object in a stream takes no reference that lives shorter than the object.

use std::cell::Cell;

use jstream::{EmptyBuffer, Reader, StreamReader, StreamWriter, Transportable, Writer};

#[derive(Transportable)]
struct Link<'b> {
    next: Cell<Option<&'b Link<'b>>>,
}

fn main() {
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    let link = Link { next: Cell::new(None) };
    stream.write(&mut Writer::new(), &link).unwrap();
    let stream = StreamReader::new(stream.finish());
    let first = stream.next::<Link<'_>>(&mut Reader::default()).unwrap();
    {
        let short = Link { next: Cell::new(None) };
        first.next.set(Some(&short));
    }
    println!("{}", first.next.get().is_some());
}
