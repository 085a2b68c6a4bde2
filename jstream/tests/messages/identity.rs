//! Graphs in which several pointers lead to the same object.

use std::cell::Cell;
use std::rc::Rc;

use jstream::{EmptyBuffer, Reader, Shared, Transportable, Writer};

#[test]
fn one_pointer_met_twice_arrives_as_one_object() {
    let number = Rc::new(5u64);
    let twice = [&number, &number];
    let message = Writer::new().write(&twice, EmptyBuffer::heap(512)).unwrap();
    let received = Reader::default().read::<[&Rc<u64>; 2]>(message).unwrap();
    let [a, b] = received.get();
    assert!(Shared::ptr_eq(**a, **b));
}

#[test]
fn a_pointer_elsewhere_changes_no_bytes() {
    let number = Rc::new(5u64);
    let twice = [&number, &number];
    let alone = Writer::new().write(&twice, EmptyBuffer::heap(512)).unwrap();
    let elsewhere = number.clone();
    let message = Writer::new().write(&twice, EmptyBuffer::heap(512)).unwrap();
    drop(elsewhere);
    assert_eq!(alone.as_bytes(), message.as_bytes());
}

/// An owning pointer to a target and, behind it, a borrowing pointer to the same target.
#[derive(Transportable)]
#[transportable(no_to_owned)]
struct Top<'a> {
    one: Rc<u64>,
    best: Cell<Option<&'a u64>>,
}

#[test]
fn what_is_borrowed_after_its_owner_was_met_is_the_same_object() {
    let mut writer = Writer::new();
    let mut written = Vec::new();
    for clones in [0, 1, 0] {
        let one = Rc::new(7);
        let elsewhere = vec![one.clone(); clones];
        let top = Top {
            one,
            best: Cell::new(None),
        };
        top.best.set(Some(&top.one));
        let message = writer.write(&top, EmptyBuffer::heap(512)).unwrap();
        written.push(message.as_bytes().to_vec());
        let received = Reader::default().read::<Top<'static>>(message).unwrap();
        received.with(|top| assert!(std::ptr::eq(top.one.get(), top.best.get().unwrap())));
        drop(elsewhere);
    }
    assert_eq!(written[0], written[1]);
    assert_eq!(written[0], written[2]);
}

#[test]
fn gathered_messages_are_written_again_too() {
    let top = Top {
        one: Rc::new(7),
        best: Cell::new(None),
    };
    top.best.set(Some(&top.one));
    let mut writer = Writer::new();
    let mut lengths = Vec::new();
    for _ in 0..2 {
        let length = writer.gather(&top, |segments| {
            segments.iter().map(|of| of.len()).sum::<usize>()
        });
        lengths.push(length.unwrap());
    }
    assert_eq!(lengths[0], lengths[1]);
    assert_eq!(
        lengths[0],
        writer.write(&top, EmptyBuffer::heap(512)).unwrap().len()
    );
}
