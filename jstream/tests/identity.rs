//! Graphs in which several pointers lead to one object.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::rc::Rc;

use jstream::{Reader, Shared, Spent, Writer};

#[test]
fn one_pointer_met_twice_arrives_as_one_object() {
    let number = Rc::new(5u64);
    let twice = [&number, &number];
    let message = Writer::new().write(&twice, Spent::heap(512)).unwrap();
    let received = Reader::default().read::<[&Rc<u64>; 2]>(message).unwrap();
    let [a, b] = received.get();
    assert!(Shared::ptr_eq(**a, **b));
}

#[test]
fn a_pointer_elsewhere_changes_no_bytes() {
    let number = Rc::new(5u64);
    let twice = [&number, &number];
    let alone = Writer::new().write(&twice, Spent::heap(512)).unwrap();
    let elsewhere = number.clone();
    let message = Writer::new().write(&twice, Spent::heap(512)).unwrap();
    drop(elsewhere);
    assert_eq!(alone.as_bytes(), message.as_bytes());
}
