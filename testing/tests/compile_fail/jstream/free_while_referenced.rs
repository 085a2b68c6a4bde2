//! A buffer is not freed while something in it is referenced.

use jstream::{Reader, Spent, Writer};

fn main() {
    let filled = Writer::new().write(&"abc", Spent::heap(256)).unwrap();
    let received = Reader::default().read::<&'static str>(filled).unwrap();
    let text = *received.get();
    drop(received);
    println!("{text}");
}
