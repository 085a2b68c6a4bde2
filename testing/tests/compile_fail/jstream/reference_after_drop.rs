//! A reference ends before its buffer returns to its pool.

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {
    let symbol;
    {
        let order = Order { symbol: "abc" };
        let filled = Writer::new().write(&order, EmptyBuffer::heap(256)).unwrap();
        let received = Reader::default().read::<Order<'static>>(filled).unwrap();
        symbol = received.get().symbol;
    }
    println!("{symbol}");
}
