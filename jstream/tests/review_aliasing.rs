//! What a visit may change is reached by nobody else.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::cell::Cell;
use std::hint::black_box;

use jstream::{Reader, Spent, Transportable, Writer, transportable};

#[transportable]
trait Peek {
    fn number(&self) -> Option<&u64>;
}

#[derive(Transportable)]
struct Root<'b> {
    number: u64,
    peek: &'b dyn Peek,
}

/// Leads back to the root, through a cell of which the root's type says nothing.
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

#[test]
fn a_trait_object_hides_a_cell_that_aliases_the_exclusive_root() {
    let back = Back {
        root: Cell::new(None),
    };
    let root = Root {
        number: 1,
        peek: &back,
    };
    back.root.set(Some(&root));
    let message = Writer::new().write(&root, Spent::heap(512)).unwrap();
    let mut received = Reader::default().read::<Root<'_>>(message).unwrap();
    received.with_mut(|root| {
        let seen: Option<&u64> = root.peek.number();
        let before = seen.copied();
        root.number = black_box(2);
        assert_eq!(
            black_box(seen).copied(),
            before,
            "what a shared reference leads to has changed"
        );
    });
}
