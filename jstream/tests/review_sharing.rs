//! Graphs in which several pointers lead to one object.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::rc::Rc;

use jstream::{Limits, Reader, Shared, Spent, Transportable, Writer};

#[test]
fn one_pointer_met_twice_arrives_as_two_objects() {
    let number = Rc::new(5u64);
    let twice = [&number, &number];
    let message = Writer::new().write(&twice, Spent::heap(512)).unwrap();
    let received = Reader::default().read::<[&Rc<u64>; 2]>(message).unwrap();
    let [a, b] = received.get();
    assert!(Shared::ptr_eq(**a, **b));
}

#[test]
fn a_pointer_elsewhere_changes_the_bytes() {
    let number = Rc::new(5u64);
    let twice = [&number, &number];
    let alone = Writer::new().write(&twice, Spent::heap(512)).unwrap();
    let elsewhere = number.clone();
    let message = Writer::new().write(&twice, Spent::heap(512)).unwrap();
    drop(elsewhere);
    assert_eq!(alone.as_bytes(), message.as_bytes());
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Link {
    id: u64,
    next: Option<Rc<Link>>,
}

/// A chain whose links all stand in one slice too.
fn chain(count: u64) -> Vec<Rc<Link>> {
    let mut all: Vec<Rc<Link>> = Vec::new();
    for id in 0..count {
        let next = all.last().cloned();
        all.push(Rc::new(Link { id, next }));
    }
    all.reverse();
    all
}

#[test]
fn a_chain_beside_a_slice_of_its_links_is_deeper_than_the_limit() {
    let mut all = chain(200_000);
    let message = Writer::new().write(&all, Spent::heap(64 << 20)).unwrap();
    // The links are dropped one by one, as the last of the chain has most.
    while let Some(last) = all.pop() {
        drop(all.iter().rev().take(0).count());
        std::mem::forget(last);
    }
    let mut limits = Limits::default();
    limits.depth = Some(100);
    let read = Reader::new(limits).read::<Vec<Rc<Link>>>(message);
    let error = match read {
        Err(failure) => failure.to_string(),
        Ok(received) => {
            let text = format!("{:?}", received.get().len());
            let links = received.get();
            let mut depth = 0;
            let mut at = links[0].get();
            while let Some(next) = &at.next {
                depth += 1;
                at = next.get();
            }
            panic!("{text} links: {depth} pointers lead from one to the next, 100 were allowed");
        }
    };
    assert!(error.contains("Limits::depth"), "{error}");
}
