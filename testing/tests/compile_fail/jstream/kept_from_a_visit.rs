//! A visitor keeps nothing of what it visits.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
}

fn keep<'s>(received: &'s Received<Order<'static>>) -> &'s str {
    received.with(|order| order.symbol)
}

fn main() {
    let _ = keep;
}
