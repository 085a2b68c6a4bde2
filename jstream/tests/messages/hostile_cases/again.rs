//! Further pointers to shared targets.

use std::fmt::Debug;
use std::rc::Rc;

use jstream::Transportable;
use jstream::testing::Meaning;

use super::Forged;

#[derive(Transportable)]
#[transportable(derive(Debug))]
#[repr(C)]
struct Twice {
    number: Rc<u64>,
    same: Rc<u64>,
    signed: Rc<i64>,
    signed_again: Rc<i64>,
    outer: Rc<Outer>,
    outer_again: Rc<Outer>,
    inner: Rc<Inner>,
    inner_again: Rc<Inner>,
    text: Rc<str>,
    text_again: Rc<str>,
    bytes: Rc<[u8]>,
    bytes_again: Rc<[u8]>,
}

#[derive(Transportable, Debug, Clone)]
#[repr(C)]
struct Outer {
    inner: Inner,
}

#[derive(Transportable, Debug, Clone)]
#[repr(C)]
struct Inner(u64);

fn twice() -> Forged<Twice> {
    let (number, signed): (Rc<u64>, Rc<i64>) = (Rc::new(1), Rc::new(2));
    let (outer, inner) = (Rc::new(Outer { inner: Inner(3) }), Rc::new(Inner(4)));
    let (text, bytes): (Rc<str>, Rc<[u8]>) = ("text".into(), b"text".as_slice().into());
    Forged::of(&Twice {
        number: number.clone(),
        same: number,
        signed: signed.clone(),
        signed_again: signed,
        outer: outer.clone(),
        outer_again: outer,
        inner: inner.clone(),
        inner_again: inner,
        text: text.clone(),
        text_again: text,
        bytes: bytes.clone(),
        bytes_again: bytes,
    })
}

/// The fields with further pointers, in order.
const AGAIN: [&str; 6] = [
    "Twice.same",
    "Twice.signed_again",
    "Twice.outer_again",
    "Twice.inner_again",
    "Twice.text_again",
    "Twice.bytes_again",
];

#[test]
fn one_object_under_two_types() {
    let mut twice = twice();
    for (nth, name) in AGAIN.into_iter().enumerate() {
        let own = nth as u64 + 1;
        assert_eq!(twice.word(Meaning::Number, nth), 1 << 63 | own);
        // The root, all other targets, and numbers that no target has.
        let numbers = (0..10).chain([1 << 31, u32::MAX.into(), 1 << 32 | own, u64::MAX >> 1]);
        for number in numbers.filter(|number| *number != own) {
            twice.put(Meaning::Number, nth, 1 << 63 | number);
            twice.expect(
                name,
                "names a shared object of its type that was not met before",
            );
        }
    }
}

#[test]
fn one_object_under_two_lengths() {
    let mut twice = twice();
    // Lengths 0 and 1 belong to the text, 2 and 3 to the bytes; 1 and 3 are those of further
    // pointers.
    for (nth, name) in [(1, "Twice.text_again"), (3, "Twice.bytes_again")] {
        for length in [0, 3, 5, 1 << 32 | 4, u64::MAX] {
            twice.put(Meaning::Length, nth, length);
            twice.expect(
                name,
                "names a shared object of its type that was not met before",
            );
        }
    }
}
