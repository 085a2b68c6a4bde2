//! Writing takes the buffer: it holds a message now.

use jstream::{Spent, Writer};

fn main() {
    let mut spent = Spent::heap(256);
    let filled = Writer::new().write(&7u32, spent).unwrap();
    spent.uninit_mut()[0].write(0);
    println!("{}", filled.len());
}
