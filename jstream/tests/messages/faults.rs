//! Locating a fault in a message never examines memory that was not read.

use std::cell::Cell;

use jstream::{Adapter, EmptyBuffer, Reader, Transportable, Writer, transportable};

/// A type without bytes, of which every wire form is valid.
#[derive(Clone, Copy)]
struct Token;

/// An adapter that refuses every value.
struct Never;

impl Adapter<Token> for Never {
    type Wire = ();
    type Error = &'static str;

    fn to_wire(_: &Token) {}

    fn from_wire((): &()) -> Result<Token, &'static str> {
        Err("there is none")
    }
}

#[derive(Transportable)]
struct Nothing {
    #[transportable(with = Never)]
    token: Token,
}

#[derive(Transportable)]
#[repr(C)]
struct Holder<'b> {
    first: u8,
    tokens: [Nothing; 3],
    /// A pointer that is still in wire form when the tokens are refused.
    deep: &'b Deep<'b>,
}

#[derive(Transportable)]
struct Deep<'b> {
    text: &'b str,
    more: Option<&'b Deep<'b>>,
}

#[test]
fn a_refused_value_without_size_is_found() {
    let deep = Deep {
        text: "text",
        more: None,
    };
    let token = || Nothing { token: Token };
    let holder = Holder {
        first: 1,
        tokens: [token(), token(), token()],
        deep: &deep,
    };
    let message = Writer::new()
        .write(&holder, EmptyBuffer::heap(512))
        .unwrap();
    let failure = Reader::default().read::<Holder<'_>>(message).err().unwrap();
    assert!(failure.to_string().contains("there is none"), "{failure}");
}

#[derive(Transportable)]
#[repr(C)]
struct Behind<'b> {
    nothing: &'b Nothing,
    deep: &'b Deep<'b>,
}

#[test]
fn a_refused_target_without_size_is_found() {
    let deep = Deep {
        text: "text",
        more: None,
    };
    let behind = Behind {
        nothing: &Nothing { token: Token },
        deep: &deep,
    };
    let message = Writer::new()
        .write(&behind, EmptyBuffer::heap(512))
        .unwrap();
    let failure = Reader::default().read::<Behind<'_>>(message).err().unwrap();
    assert!(failure.to_string().contains("there is none"), "{failure}");
}

#[transportable]
trait Class {}

#[derive(Transportable)]
#[transportable(implements(Class))]
struct Words {
    one: usize,
    two: usize,
}

#[derive(Transportable)]
#[transportable(implements(Class))]
struct Pointer<'b> {
    to: Option<&'b Deep<'b>>,
}

impl Class for Words {}
impl Class for Pointer<'_> {}

#[derive(Transportable)]
struct Inner<'b> {
    class: &'b dyn Class,
}

#[derive(Transportable)]
struct Judged {
    #[transportable(verify = never)]
    number: u64,
}

fn never(_: &u64) -> Result<(), &'static str> {
    Err("no number is right")
}

/// Accepts the value, but removes a part of it from the graph.
fn cut(top: &Top<'_>) -> Result<(), &'static str> {
    top.inner.set(None);
    Ok(())
}

#[derive(Transportable)]
#[repr(C)]
#[transportable(verify = cut)]
struct Top<'b> {
    inner: Cell<Option<&'b Inner<'b>>>,
    next: &'b Next<'b>,
    last: &'b Last<'b>,
}

#[derive(Transportable)]
#[repr(C)]
struct Next<'b> {
    class: &'b dyn Class,
}

#[derive(Transportable)]
#[repr(C)]
struct Last<'b> {
    middle: &'b Middle<'b>,
}

#[derive(Transportable)]
struct Middle<'b> {
    end: &'b End<'b>,
}

#[derive(Transportable)]
struct End<'b> {
    text: &'b str,
    judged: Judged,
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Whole<'b> {
    top: &'b Top<'b>,
}

#[test]
fn a_check_may_change_a_cell_before_another_refuses() {
    let pointer = Pointer { to: None };
    let words = Words {
        one: 0x4141_4140,
        two: 0x4242_4240,
    };
    let inner = Inner { class: &pointer };
    let next = Next { class: &words };
    let end = End {
        text: "x",
        judged: Judged { number: 3 },
    };
    let middle = Middle { end: &end };
    let last = Last { middle: &middle };
    let top = Top {
        inner: Cell::new(Some(&inner)),
        next: &next,
        last: &last,
    };
    let whole = Whole { top: &top };
    let message = Writer::new()
        .write(&whole, EmptyBuffer::heap(1024))
        .unwrap();
    let failure = Reader::default().read::<Whole<'_>>(message).err().unwrap();
    assert!(
        failure.to_string().contains("no number is right"),
        "{failure}"
    );
}
