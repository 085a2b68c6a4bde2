//! A closure that modifies an object cannot keep references to it.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn keep(received: &mut Received<Order<'static>>, kept: &mut Vec<&str>) {
    received.with_mut(|order| kept.push(order.symbol));
}

fn main() {
    let _ = keep;
}
