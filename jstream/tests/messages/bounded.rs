//! Types with bounds, and enums whose discriminants name the enum.

use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use jstream::{EmptyBuffer, Reader, Received, Transportable, Writer};

fn received<T: Transportable, R: Transportable + 'static>(value: &T) -> Received<R> {
    let message = Writer::new()
        .write(value, EmptyBuffer::heap(1 << 10))
        .unwrap();
    Reader::default().read::<R>(message).unwrap()
}

#[derive(Transportable, Debug, PartialEq)]
struct Clause<'b, T>
where
    T: Copy + Debug,
    &'b T: Send,
{
    one: T,
    many: &'b [T],
    pair: Option<(T, &'b str)>,
    result: Result<u8, &'b [Option<T>]>,
}

#[derive(Transportable, Debug, PartialEq)]
struct Bounded<T: Display, const N: usize>([T; N]);

#[derive(Transportable, Debug, PartialEq)]
struct Lifetime<'b>
where
    'b: 'b,
{
    text: &'b str,
}

#[derive(Transportable, Debug, PartialEq)]
#[repr(u8)]
enum Choice<'b, T: Copy>
where
    u8: From<bool>,
{
    None,
    One(T),
    Many { of: &'b [T], text: &'b str },
}

#[derive(Transportable, Debug, PartialEq)]
#[transportable(derive(Debug))]
struct Owner<T>
where
    T: Clone + Debug,
{
    many: Vec<T>,
    text: String,
}

#[derive(Transportable, Debug, PartialEq)]
struct Marked<'b, M: Debug>
where
    M: 'static,
{
    text: &'b str,
    of: PhantomData<M>,
}

/// The form of a type with bounds is covariant if its fields are, so it is accessed directly.
#[test]
fn types_with_bounds_are_accessed_like_others() {
    let clause = Clause {
        one: 7u8,
        many: &[1, 2],
        pair: Some((3, "three")),
        result: Err(&[None]),
    };
    assert_eq!(received::<_, Clause<'static, u8>>(&clause).get(), &clause);
    let texts = Clause {
        one: "text",
        many: &[],
        pair: None,
        result: Ok(1),
    };
    let received_texts = received::<_, Clause<'static, &'static str>>(&texts);
    assert_eq!(received_texts.get(), &texts);
    let array = Bounded(["a", "b"]);
    assert_eq!(
        received::<_, Bounded<&'static str, 2>>(&array).get(),
        &array
    );
    let lifetime = Lifetime { text: "x" };
    assert_eq!(received::<_, Lifetime<'static>>(&lifetime).get(), &lifetime);
    for choice in [
        Choice::None,
        Choice::One(7u32),
        Choice::Many {
            of: &[1],
            text: "of",
        },
    ] {
        let mut received = received::<_, Choice<'static, u32>>(&choice);
        assert_eq!(received.get(), &choice);
        received.with_mut(|form| *form = Choice::One(5));
        assert_eq!(received.get(), &Choice::One(5));
    }
    let owner = Owner {
        many: vec!["one".to_owned()],
        text: "text".to_owned(),
    };
    let mut received_owner = received::<_, Owner<String>>(&owner);
    assert_eq!(received_owner.get().many, ["one"]);
    received_owner.with_mut(|form| form.text = "other");
    assert_eq!(received_owner.get().text, "other");
    let marked = Marked::<'_, String> {
        text: "mark",
        of: PhantomData,
    };
    assert_eq!(
        received::<_, Marked<'static, String>>(&marked).get(),
        &marked
    );
}

/// A type of the program may need the bounds that its parameter has, so there is no proof.
#[derive(Transportable)]
struct Needs<T: Copy> {
    of: NeedsCopy<T>,
}

#[derive(Transportable)]
struct NeedsCopy<T: Copy>(T);

#[test]
fn a_field_may_need_the_bounds() {
    let needs = Needs { of: NeedsCopy(7u8) };
    received::<_, Needs<u8>>(&needs).with(|form| assert_eq!(form.of.0, 7));
}

#[derive(Transportable, Debug, PartialEq, Clone, Copy)]
#[repr(u8)]
enum Level {
    Low = Self::BASE,
    Middle = 2 + (Self::BASE * 2),
    High,
}

impl Level {
    const BASE: u8 = 3;
}

#[derive(Transportable, Debug, PartialEq, Clone)]
#[repr(u8)]
enum Shape {
    Point = Self::FIRST,
    Named(String),
}

impl Shape {
    const FIRST: u8 = 9;
}

#[test]
fn discriminants_may_name_the_enum() {
    for level in [Level::Low, Level::Middle, Level::High] {
        assert_eq!(received::<_, Level>(&level).get(), &level);
    }
    for shape in [Shape::Point, Shape::Named("x".to_owned())] {
        assert_eq!(received::<_, Shape>(&shape).to_owned().unwrap(), shape);
    }
}
