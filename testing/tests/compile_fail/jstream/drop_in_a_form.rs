//! Data in a buffer is never dropped.

use jstream::{EmptyBuffer, MessageBuffer, Reader, Received, Transportable};

#[derive(Transportable)]
struct Guard {
    id: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        println!("{}", self.id);
    }
}

fn read(message: MessageBuffer) -> Received<Guard> {
    Reader::default().read(message).unwrap()
}

fn main() {
    read(EmptyBuffer::heap(0).copy_from(&[]).unwrap());
}
