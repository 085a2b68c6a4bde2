//! The `Debug` of forms whose types have it.
#![deny(warnings)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

#[derive(Transportable, Debug)]
struct Player {
    name: String,
    items: Vec<Item>,
    spouse: Option<Box<Player>>,
    place: Place,
    scores: BTreeMap<String, u8>,
    secret: Secret,
}

#[derive(Transportable, Debug)]
struct Item(String, u8);

#[derive(Transportable, Debug)]
#[repr(u8)]
enum Place {
    Home,
    Away(String),
    Between { one: String, other: Vec<u8> },
}

/// A type with a `Debug` of its own, which the form does not use, and a part without any.
#[derive(Transportable)]
struct Secret {
    word: Word,
    hint: String,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("secret")
    }
}

#[derive(Transportable, Clone)]
struct Word(u64);

/// A type whose form has a `Debug` by the program.
#[derive(Transportable, Debug)]
#[transportable(no_debug)]
struct Named {
    name: String,
}

impl fmt::Debug for NamedRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A form with cells: printing it could have no end.
#[derive(Transportable)]
struct Node<'b> {
    name: Box<str>,
    next: Cell<Option<&'b Self>>,
}

impl fmt::Debug for NodeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn received<T>(value: &T) -> String
where
    T: jstream::Covariant + 'static,
    for<'b> T::InPlace<'b>: fmt::Debug,
{
    let message = Writer::new().write(value, EmptyBuffer::heap(4096)).unwrap();
    let received = Reader::default().read::<T>(message).unwrap();
    format!("{:?}", received.get())
}

#[test]
fn a_form_is_shown_as_its_type() {
    let spouse = Player {
        name: "b".to_owned(),
        items: Vec::new(),
        spouse: None,
        place: Place::Home,
        scores: BTreeMap::new(),
        secret: Secret {
            word: Word(2),
            hint: String::new(),
        },
    };
    let player = Player {
        name: "a".to_owned(),
        items: vec![Item("rope".to_owned(), 1)],
        spouse: Some(Box::new(spouse)),
        place: Place::Between {
            one: "c".to_owned(),
            other: vec![3],
        },
        scores: BTreeMap::from([("chess".to_owned(), 9)]),
        secret: Secret {
            word: Word(1),
            hint: "h".to_owned(),
        },
    };
    assert_eq!(
        received(&player),
        "PlayerRef { name: \"a\", items: [ItemRef(\"rope\", 1)], spouse: Some(PlayerRef { name: \
         \"b\", items: [], spouse: None, place: Home, scores: {}, secret: SecretRef { word: .., \
         hint: \"\" } }), place: Between { one: \"c\", other: [3] }, scores: {\"chess\": 9}, \
         secret: SecretRef { word: .., hint: \"h\" } }"
    );
    assert_eq!(received(&Place::Away("d".to_owned())), "Away(\"d\")");
    let named = Named {
        name: "e".to_owned(),
    };
    assert_eq!(received(&named), "e");
}

#[test]
fn a_form_with_cells_is_shown_by_the_program() {
    let node = Node {
        name: "n".into(),
        next: Cell::new(None),
    };
    let message = Writer::new().write(&node, EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default().read::<Node<'static>>(message).unwrap();
    let text = received.with(|node| format!("{node:?} {}", node.next.get().is_none()));
    assert_eq!(text, "n true");
}
