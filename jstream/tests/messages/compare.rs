//! Comparison of values with their forms, by the option `compare`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Mutex;

use jstream::{Adapter, Transportable, from_slice, to_vec};

#[derive(Transportable, Clone, PartialEq)]
struct Meters(f64);

#[derive(Transportable)]
#[transportable(compare)]
enum Shape {
    Nothing,
    Circle { radius: f64, name: Option<String> },
    Many(Vec<Shape>, Box<Shape>),
}

/// A type whose form is compared by an implementation of the program.
#[derive(Transportable)]
struct Word(String);

impl PartialEq<Word> for WordRef<'_> {
    fn eq(&self, other: &Word) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

struct Degrees(f64);

struct AsText;

impl Adapter<Degrees> for AsText {
    type Wire = String;
    type Error = std::num::ParseFloatError;

    fn to_wire(of: &Degrees) -> String {
        of.0.to_string()
    }

    fn from_wire(text: &&str) -> Result<Degrees, Self::Error> {
        text.parse().map(Degrees)
    }
}

#[derive(Transportable)]
#[transportable(compare)]
struct All {
    plain: (u8, Meters),
    text: Cow<'static, str>,
    path: PathBuf,
    nested: Vec<Option<(String, [Box<str>; 2])>>,
    result: Result<Vec<u8>, Rc<String>>,
    shapes: Vec<Shape>,
    word: Option<Box<Word>>,
    sorted: BTreeMap<String, Vec<Shape>>,
    tags: BTreeSet<String>,
    hashed: HashMap<String, Option<Shape>>,
    numbers: HashSet<(u32, String)>,
    #[transportable(with = AsText, form = &'b str)]
    angle: Degrees,
    #[transportable(skip, form = ())]
    cache: Mutex<u8>,
}

fn shape(radius: f64) -> Shape {
    let circle = Shape::Circle {
        radius,
        name: Some("o".to_owned()),
    };
    Shape::Many(vec![circle, Shape::Nothing], Box::new(Shape::Nothing))
}

fn all() -> All {
    All {
        plain: (1, Meters(2.0)),
        text: Cow::Borrowed("text"),
        path: PathBuf::from("/a/b"),
        nested: vec![None, Some(("a".to_owned(), ["b".into(), "c".into()]))],
        result: Err(Rc::new("none".to_owned())),
        shapes: vec![shape(1.0)],
        word: Some(Box::new(Word("Word".to_owned()))),
        sorted: BTreeMap::from([("a".to_owned(), vec![shape(2.0)]), ("b".to_owned(), vec![])]),
        tags: BTreeSet::from(["x".to_owned(), "y".to_owned()]),
        hashed: (0..100)
            .map(|n| (n.to_string(), Some(shape(f64::from(n)))))
            .collect(),
        numbers: (0..100).map(|n| (n, n.to_string())).collect(),
        angle: Degrees(1.5),
        cache: Mutex::new(3),
    }
}

#[test]
fn a_value_equals_its_form() {
    let value = all();
    let bytes = to_vec(&value).unwrap();
    let received = from_slice::<All>(&bytes).unwrap();
    assert!(*received.get() == value);
    assert!(value == *received.get());
}

#[test]
fn each_difference_is_seen() {
    let bytes = to_vec(&all()).unwrap();
    let received = from_slice::<All>(&bytes).unwrap();
    let changes: [fn(&mut All); 21] = [
        |all| all.plain.0 = 2,
        |all| all.plain.1.0 = 3.0,
        |all| all.text = Cow::Borrowed("tex"),
        |all| all.path = PathBuf::from("/a/c"),
        |all| all.nested[0] = Some((String::new(), ["".into(), "".into()])),
        |all| all.nested[1] = None,
        |all| all.nested[1] = Some(("a".to_owned(), ["b".into(), "d".into()])),
        |all| all.result = Ok(vec![]),
        |all| all.result = Err(Rc::new("some".to_owned())),
        |all| all.shapes.push(Shape::Nothing),
        |all| all.shapes[0] = shape(1.5),
        |all| all.shapes[0] = Shape::Nothing,
        |all| all.word = Some(Box::new(Word("world".to_owned()))),
        |all| drop(all.sorted.remove("b")),
        |all| drop(all.sorted.insert("a".to_owned(), vec![shape(2.5)])),
        |all| assert!(all.tags.remove("x")),
        |all| drop(all.hashed.insert("7".to_owned(), None)),
        |all| {
            drop(
                all.hashed
                    .remove("7")
                    .zip(all.hashed.insert("-7".to_owned(), Some(shape(7.0)))),
            )
        },
        |all| assert!(all.numbers.remove(&(9, "9".to_owned()))),
        |all| drop(all.numbers.replace((9, "8".to_owned()))),
        |all| all.angle = Degrees(2.5),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut value = all();
        change(&mut value);
        assert!(*received.get() != value, "change {number}");
        assert!(value != *received.get(), "change {number}");
    }
}

#[test]
fn other_implementations_and_skipped_fields_count() {
    let mut value = all();
    let received = from_slice::<All>(&to_vec(&value).unwrap()).unwrap();
    value.word = Some(Box::new(Word("WORD".to_owned())));
    value.cache = Mutex::new(7);
    assert!(*received.get() == value);
}

/// Damaged messages that are read are compared without a panic.
#[test]
fn damaged_forms_are_compared() {
    let value = all();
    let bytes = to_vec(&value).unwrap();
    let mut read = 0;
    for at in (0..bytes.len()).step_by(3) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        if let Ok(received) = from_slice::<All>(&bytes) {
            read += 1;
            assert_eq!(*received.get() == value, value == *received.get());
        }
    }
    assert!(read > 100, "{read}");
}

/// A type with parameters, of which one is a mark.
#[derive(Transportable)]
#[transportable(compare)]
struct Pair<A: Clone, B, M, const N: usize = 1> {
    a: Vec<A>,
    b: Option<B>,
    numbers: [u32; N],
    mark: PhantomData<fn() -> M>,
}

#[test]
fn generic_types_compare_the_forms_of_their_arguments() {
    type Strings = Pair<String, Meters, Mutex<u8>, 2>;
    let pair = |b| Strings {
        a: vec!["a".to_owned()],
        b: Some(Meters(b)),
        numbers: [1, 2],
        mark: PhantomData,
    };
    let received = from_slice::<Strings>(&to_vec(&pair(1.0)).unwrap()).unwrap();
    assert!(*received.get() == pair(1.0));
    assert!(pair(2.0) != *received.get());
}

/// A type that owns and borrows.
#[derive(Transportable)]
#[transportable(compare)]
struct Mixed<'a> {
    name: String,
    text: &'a str,
    parts: &'a [Part<'a>],
    next: Option<&'a Mixed<'a>>,
}

#[derive(Transportable, Debug, PartialEq)]
struct Part<'a>(&'a str);

#[test]
fn types_that_borrow_are_compared() {
    let text = "text".to_owned();
    let parts = [Part(&text)];
    let last = Mixed {
        name: "last".to_owned(),
        text: &text,
        parts: &parts,
        next: None,
    };
    let first = Mixed {
        name: "first".to_owned(),
        text: "",
        parts: &[],
        next: Some(&last),
    };
    let received = from_slice::<Mixed<'static>>(&to_vec(&first).unwrap()).unwrap();
    assert!(*received.get() == first);
    assert!(last != *received.get());
    assert!(*received.get().next.unwrap() == last);
}

/// Names that generated code could be captured by.
mod hygiene {
    #![allow(
        dead_code,
        unused_macros,
        non_upper_case_globals,
        non_camel_case_types,
        reason = "traps"
    )]

    use jstream::Transportable;

    const other: u8 = 1;
    struct PartialEq;
    struct Option<T>(T);
    struct bool;
    struct i128;
    macro_rules! matches {
        () => {};
    }

    #[derive(Transportable)]
    #[transportable(compare)]
    pub(super) struct Trap {
        pub(super) r#type: Vec<String>,
        pub(super) other: ::core::option::Option<String>,
        pub(super) kind: Kind,
    }

    #[derive(Transportable)]
    #[transportable(compare)]
    pub(super) enum Kind {
        Named { form: String },
        Plain,
    }
}

#[test]
fn names_of_the_program_do_not_matter() {
    let trap = hygiene::Trap {
        r#type: vec!["a".to_owned()],
        other: None,
        kind: hygiene::Kind::Named {
            form: String::new(),
        },
    };
    let received = from_slice::<hygiene::Trap>(&to_vec(&trap).unwrap()).unwrap();
    assert!(*received.get() == trap);
}

/// Fields that arrive as empty, or as slices that can be changed.
#[derive(Transportable)]
#[transportable(compare, opt_in)]
struct Marked {
    #[transportable(follow, exclusive)]
    numbers: Vec<u32>,
    history: Vec<String>,
    parent: Option<Box<Marked>>,
}

#[test]
fn pointers_that_are_not_sent_are_not_compared() {
    let inner = Marked {
        numbers: vec![],
        history: vec![],
        parent: None,
    };
    let mut outer = Marked {
        numbers: vec![1, 2],
        history: vec!["made".to_owned()],
        parent: Some(Box::new(inner)),
    };
    let received = from_slice::<Marked>(&to_vec(&outer).unwrap()).unwrap();
    assert!(*received.get() == outer);
    outer.numbers[1] = 3;
    assert!(*received.get() != outer);
}
