//! Data in a buffer is never dropped.

use jstream::{Filled, Reader, Received, Spent, Transportable};

#[derive(Transportable)]
struct Guard {
    id: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        println!("{}", self.id);
    }
}

fn read(message: Filled) -> Received<Guard> {
    Reader::default().read(message).unwrap()
}

fn main() {
    read(Spent::heap(0).copy_from(&[]).unwrap());
}
