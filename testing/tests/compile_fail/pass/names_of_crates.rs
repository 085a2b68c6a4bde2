//! The crates `core` and `std` of a program may be others: this program is both.

extern crate self as core;
extern crate self as std;

use ::jstream::{EmptyBuffer, Reader, Transportable, Writer};

/// Types that a macro would mean by `::core::primitive::u16`.
#[allow(non_camel_case_types)]
pub mod primitive {
    pub type u8 = ();
    pub type u16 = ();
    pub type i128 = ();
}

#[derive(Transportable, Clone, Copy, Debug, PartialEq)]
#[repr(u16)]
enum Kind {
    One = 1,
    Two = 2,
}

#[derive(Transportable, Clone, Copy, Debug, PartialEq)]
#[repr(u16)]
enum Shape {
    Point = 1,
    Circle { radius: f32 } = 2,
}

#[derive(Transportable, Debug)]
#[transportable(compare)]
struct Owner {
    name: String,
    kind: Kind,
    shape: Option<Shape>,
    path: ::jstream::__private::std::path::PathBuf,
}

#[jstream::transportable]
trait Named {
    fn name(&self) -> &str;
}

#[derive(Transportable)]
#[transportable(implements(Named))]
struct Text<'b>(&'b str);

impl Named for Text<'_> {
    fn name(&self) -> &str {
        self.0
    }
}

#[::jstream_rmi::remote(mock)]
trait Calls {
    fn take(&self, kind: Kind, name: &str) -> u64;

    async fn ask(&self, kind: Kind) -> Option<String>;
}

fn main() {
    let owner = Owner {
        name: "a".into(),
        kind: Kind::Two,
        shape: Some(Shape::Circle { radius: 1.0 }),
        path: "b".into(),
    };
    let mut message = ::jstream::to_vec(&Kind::Two).unwrap();
    let at = message.len() - 16;
    let at = at + message[at..].iter().position(|byte| *byte == 2).unwrap();
    for tag in 0..=u16::MAX {
        message[at..at + 2].copy_from_slice(&tag.to_le_bytes());
        let read = ::jstream::from_slice::<Kind>(&message);
        assert_eq!(read.is_ok(), matches!(tag, 1 | 2), "{tag:#x}");
    }
    let message = Writer::new().write(&owner, EmptyBuffer::heap(512)).unwrap();
    let received = Reader::default().read::<Owner>(message).unwrap();
    assert!(*received.get() == owner);
    let text = Text("x");
    let named: &dyn Named = &text;
    let message = Writer::new().write(&named, EmptyBuffer::heap(512)).unwrap();
    let received = Reader::default().read::<&dyn Named>(message).unwrap();
    assert_eq!(received.get().name(), "x");
}
