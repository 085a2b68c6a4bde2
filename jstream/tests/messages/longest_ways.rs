//! The depth of a graph is the length of its longest path, in whatever order its objects are met.

use std::rc::Rc;

use crate::common::unlimited;
use jstream::{EmptyBuffer, Limits, MessageBuffer, Reader, Shared, Transportable, Writer};

#[derive(Transportable)]
struct Link {
    id: u64,
    next: Option<Rc<Link>>,
    tail: Option<Box<Link>>,
}

fn link(id: u64, next: Option<Rc<Link>>) -> Link {
    let tail = None;
    Link { id, next, tail }
}

/// A chain of links that are also elements of one slice, in which the reader meets them first.
fn message(last: Link, count: u64) -> MessageBuffer {
    message_of(last, count, link)
}

fn message_of(last: Link, count: u64, link: fn(u64, Option<Rc<Link>>) -> Link) -> MessageBuffer {
    let mut all = vec![Rc::new(last)];
    for id in 1..count {
        let next = all.last().cloned();
        all.push(Rc::new(link(id, next)));
    }
    all.reverse();
    // The vector drops the first link while it still holds the next one, so dropping does not
    // recurse.
    unlimited()
        .write(&all, EmptyBuffer::heap(64 << 20))
        .unwrap()
}

fn said(message: MessageBuffer, depth: u32) -> Option<String> {
    let mut limits = Limits::default();
    limits.depth = Some(depth);
    let read = Reader::new(limits).read::<Vec<Rc<Link>>>(message);
    read.err().map(|failure| failure.to_string())
}

#[test]
fn a_chain_beside_a_slice_of_its_links_is_as_deep_as_alone() {
    // The slice, and then one link after the other.
    assert_eq!(said(message(link(0, None), 10), 11), None);
    let said = said(message(link(0, None), 10), 10).unwrap();
    assert!(
        said.contains("deeper than Limits::depth allows on another way"),
        "{said}"
    );
    assert!(said.starts_with("Vec<Rc<Link>>[9]"), "{said}");
}

#[test]
fn what_belongs_to_the_last_link_counts() {
    let last = || Link {
        tail: Some(Box::new(link(7, None))),
        ..link(0, None)
    };
    assert_eq!(said(message(last(), 10), 12), None);
    assert!(said(message(last(), 10), 11).is_some());
}

#[test]
fn ways_through_other_objects_count() {
    // Every other link continues through an object of its own, which is met after all links.
    let alternate = |id, next| match id % 2 {
        0 => link(id, next),
        _ => Link {
            tail: Some(Box::new(link(id, next))),
            ..link(id, None)
        },
    };
    assert_eq!(said(message_of(link(0, None), 10, alternate), 16), None);
    assert!(said(message_of(link(0, None), 10, alternate), 15).is_some());
}

#[test]
fn a_long_chain_is_refused_by_default() {
    let message = message(link(0, None), 200_000);
    let read = Reader::default().read::<Vec<Rc<Link>>>(message);
    let said = read.err().unwrap().to_string();
    assert!(said.contains("Limits::depth"), "{said}");
}

#[derive(Transportable)]
struct Wide<'b> {
    n: u128,
    text: &'b str,
}

#[derive(Transportable)]
struct Holder<'b> {
    none: Shared<'b, [Wide<'b>]>,
}

#[derive(Transportable)]
struct Twice<'b> {
    a: Shared<'b, Holder<'b>>,
    b: Shared<'b, Holder<'b>>,
}

/// An empty slice is not an object, whatever its pointer contains.
#[test]
fn empty_slices_do_not_count() {
    let holder = Holder {
        none: Shared::new(&[]),
    };
    let twice = Twice {
        a: Shared::new(&holder),
        b: Shared::new(&holder),
    };
    let mut limits = Limits::default();
    limits.depth = Some(1);
    let message = Writer::new().write(&twice, EmptyBuffer::heap(512)).unwrap();
    let received = Reader::new(limits).read::<Twice<'static>>(message).unwrap();
    assert!(received.get().b.none.is_empty());
}
