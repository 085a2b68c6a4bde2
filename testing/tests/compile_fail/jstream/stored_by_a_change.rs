//! A reference that is stored in an object must live as long as its buffer.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn store(received: &mut Received<Order<'static>>) {
    let text = String::from("abc");
    received.with_mut(|order| order.symbol = &text);
}

fn main() {
    let _ = store;
}
