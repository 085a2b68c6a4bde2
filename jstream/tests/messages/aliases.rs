//! Fields whose types are aliases that are defined with `alias!`.

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

mod names {
    jstream::alias! {
        /// The name of somebody.
        pub(crate) type Name = String;
        pub(crate) type Outcome<T> = Result<T, Name>;
    }
}

jstream::alias! {
    type Text = String;
    type Id = u32;
    type Rows<T, const N: usize> = Vec<[T; N]>;
    type Borrowed<'a> = std::borrow::Cow<'a, str>;
    type Tree = std::collections::BTreeMap<names::Name, Child>;
}

use names::{Name, NameRef, Outcome, OutcomeRef};

#[derive(Transportable, PartialEq, Debug, Clone)]
#[transportable(derive(Debug))]
struct Child {
    age: Id,
    names: Vec<Name>,
}

#[derive(Transportable, PartialEq, Debug, Clone)]
#[transportable(owned, derive(Debug))]
struct Person {
    name: names::Name,
    id: Id,
    rows: Rows<u8, 2>,
    last: Outcome<Text>,
    nested: Option<Outcome<Option<Rows<Child, 1>>>>,
    tree: Tree,
}

#[derive(Transportable)]
#[transportable(owned)]
struct Quote<'a> {
    text: Borrowed<'a>,
}

#[test]
fn fields_behind_aliases_travel() {
    let child = Child {
        age: 7,
        names: vec!["Ada".to_owned()],
    };
    let person = Person {
        name: "Grace".to_owned(),
        id: 3,
        rows: vec![[1, 2], [3, 4]],
        last: Err("none".to_owned()),
        nested: Some(Ok(Some(vec![[child.clone()]]))),
        tree: [("child".to_owned(), child)].into(),
    };
    let message = Writer::new().write(&person, EmptyBuffer::heap(1 << 12));
    let received = Reader::default().read::<Person>(message.unwrap()).unwrap();
    let form = received.get();
    let name: &str = form.name;
    assert_eq!(
        (name, form.id, form.rows),
        ("Grace", 3, &[[1, 2], [3, 4]][..])
    );
    assert_eq!(form.last, Err("none"));
    assert_eq!(received.to_owned().unwrap(), person);
    let quote = Quote { text: "ha".into() };
    let message = Writer::new().write(&quote, EmptyBuffer::heap(64));
    let received = Reader::default()
        .read::<Quote<'_>>(message.unwrap())
        .unwrap();
    assert_eq!(received.get().text, "ha");
}
