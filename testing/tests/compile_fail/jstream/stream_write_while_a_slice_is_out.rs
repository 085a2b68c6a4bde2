//! A stream cannot be written while a producer fills a slice in it.

use jstream::{EmptyBuffer, StreamWriter, Writer};

fn main() {
    let mut writer = Writer::new();
    let mut stream = StreamWriter::new(EmptyBuffer::heap(256));
    let slice = stream.uninit_slice::<u32>(&mut writer, 3).unwrap();
    stream.write(&mut writer, &7u32).unwrap();
    slice.fill_with(|_| 7);
}
