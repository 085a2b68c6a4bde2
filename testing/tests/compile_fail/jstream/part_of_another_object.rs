//! A part is a part of what it is made from, or lives for ever.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn part(received: Received<Order<'static>>) {
    let number = 7;
    let _ = received.map::<u64>(|_| &number);
}

fn main() {
    let _ = part;
}
