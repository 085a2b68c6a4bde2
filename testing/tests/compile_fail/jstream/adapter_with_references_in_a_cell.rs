//! While an object is forwarded, an adapter is called when other objects are in wire form already.
//! The lifetime of a cell can't vary, so no reference to them can be where an adapter finds it.

use std::cell::Cell;

use jstream::{Adapter, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    text: &'b str,
}

struct AsNothing;

impl<'b> Adapter<Cell<Option<&'b Node<'b>>>> for AsNothing {
    type Wire = u64;
    type Error = &'static str;

    fn to_wire(link: &Cell<Option<&'b Node<'b>>>) -> u64 {
        link.get().map_or(0, |node| node.text.len() as u64)
    }

    fn from_wire(_: &u64) -> Result<Cell<Option<&'b Node<'b>>>, &'static str> {
        Ok(Cell::new(None))
    }
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Tail<'b> {
    #[transportable(with = AsNothing)]
    link: Cell<Option<&'b Node<'b>>>,
}

fn main() {}
