//! A cell behind a trait object may lead back to the root.

use std::cell::Cell;

use jstream::{Received, Transportable, transportable};

#[transportable]
trait Peek {
    fn number(&self) -> Option<&u64>;
}

#[derive(Transportable)]
struct Root<'b> {
    number: u64,
    peek: &'b dyn Peek,
}

#[derive(Transportable)]
#[transportable(implements(Peek))]
struct Back<'b> {
    root: Cell<Option<&'b Root<'b>>>,
}

impl Peek for Back<'_> {
    fn number(&self) -> Option<&u64> {
        self.root.get().map(|root| &root.number)
    }
}

fn change(received: &mut Received<Root<'static>>) {
    received.with_mut(|root| {
        let seen = root.peek.number();
        root.number = 2;
        assert_eq!(seen, Some(&1));
    });
}

fn main() {}
