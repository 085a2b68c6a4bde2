//! Functions that verify values may change the cells in them; errors are still found by their type.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::cell::Cell;

use jstream::{Reader, Spent, Transportable, Writer};

#[jstream::transportable]
trait Shape {}

/// Refers to something where the other one has a number.
#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Holder<'b> {
    to: &'b Shown<'b>,
}

impl Shape for Holder<'_> {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
#[repr(C)]
struct Number<'b> {
    number: u64,
    name: &'b str,
}

impl Shape for Number<'_> {}

#[derive(Transportable)]
#[transportable(verify = Forgetful::forget)]
struct Forgetful<'b> {
    shape: Cell<Option<&'b dyn Shape>>,
}

impl Forgetful<'_> {
    fn forget(&self) -> Result<(), String> {
        self.shape.set(None);
        Ok(())
    }
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Whole<'b> {
    first: &'b Forgetful<'b>,
    shown: &'b Shown<'b>,
}

#[derive(Transportable)]
struct Shown<'b> {
    shape: Option<&'b dyn Shape>,
    next: Option<&'b Shown<'b>>,
    #[transportable(verify = not_empty)]
    name: &'b str,
}

fn not_empty(name: &&str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("is empty")
    } else {
        Ok(())
    }
}

#[test]
fn a_trait_object_is_walked_as_its_own_class() {
    let shown = |name, shape, next| Shown { shape, next, name };
    let last = shown("", None, None);
    let third = shown("c", None, Some(&last));
    let second = shown("b", None, Some(&third));
    let number = Number {
        number: 0x1234_5678,
        name: "n",
    };
    let first = shown("a", Some(&number), Some(&second));
    let other = shown("x", None, None);
    let holder = Holder { to: &other };
    let forgetful = Forgetful {
        shape: Cell::new(Some(&holder)),
    };
    let whole = Whole {
        first: &forgetful,
        shown: &first,
    };
    let message = Writer::new().write(&whole, Spent::heap(4096)).unwrap();
    // The walk that finds the path meets the second trait object, and not the first any more.
    let read = Reader::default().read::<Whole<'_>>(message);
    let text = read.err().unwrap().to_string();
    let expected = "Whole.shown.next.next.next.name: is empty";
    assert!(text.starts_with(expected), "{text}");
}
