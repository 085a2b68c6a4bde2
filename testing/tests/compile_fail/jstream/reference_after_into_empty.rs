//! A reference ends before its buffer is used again.

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {
    let order = Order { symbol: "abc" };
    let filled = Writer::new().write(&order, EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default().read::<Order<'static>>(filled).unwrap();
    let symbol = received.get().symbol;
    let empty = received.into_empty();
    println!("{symbol} {}", empty.capacity());
}
