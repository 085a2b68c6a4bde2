//! What was received is not kept where it would outlive its buffer.

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
