//! A reference to a received object must not outlive its buffer.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn keep(received: &Received<Order<'static>>, book: &mut Vec<&'static str>) {
    book.push(received.get().symbol);
}

fn main() {
    let _ = keep;
}
