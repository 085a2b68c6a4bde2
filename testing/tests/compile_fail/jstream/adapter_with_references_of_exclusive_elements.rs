//! While an object is forwarded, an adapter is called when other objects are in wire form already.
//! An exclusive slice of elements with references is invariant, so none can be stored in it.

use jstream::{Adapter, Received, Transportable};

#[derive(Transportable)]
struct Node<'b> {
    text: &'b str,
}

struct AsNothing;

impl<'b> Adapter<Option<&'b Node<'b>>> for AsNothing {
    type Wire = u64;
    type Error = &'static str;

    fn to_wire(link: &Option<&'b Node<'b>>) -> u64 {
        link.map_or(0, |node| node.text.len() as u64)
    }

    fn from_wire(_: &u64) -> Result<Option<&'b Node<'b>>, &'static str> {
        Ok(None)
    }
}

#[derive(Transportable)]
struct Element<'b> {
    #[transportable(with = AsNothing)]
    link: Option<&'b Node<'b>>,
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Root<'b> {
    head: &'b Node<'b>,
    tail: &'b mut [Element<'b>],
}

fn change(received: &mut Received<Root<'static>>) {
    received.with_mut(|root| root.tail[0].link = Some(root.head));
}

fn main() {}
