//! A function that does not approve says why.

use jstream::Transportable;

fn approve(order: &Order) -> bool {
    order.id > 0
}

#[derive(Transportable)]
#[transportable(verify = approve)]
struct Order {
    id: u64,
}

fn main() {}
