//! Messages that somebody made to do harm, case by case: which error they give, and of what field.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod common;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::rc::Rc;

use common::message;
use jstream::testing::{Meaning, places};
use jstream::{
    Limits, MessageSegment, ReadError, Reader, Received, Spent, Transportable, Writer,
    transportable,
};
use typed_arena::Arena;

fn read<T: Transportable + 'static>(bytes: &[u8]) -> Result<Received<T>, ReadError> {
    let filled = Spent::heap(bytes.len()).copy_from(bytes).unwrap();
    let read = Reader::default().read::<T>(filled);
    read.map_err(|failure| failure.error)
}

/// A message, and where its parts of each kind stand.
struct Forged<T> {
    sound: Vec<u8>,
    bytes: Vec<u8>,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: Transportable + 'static> Forged<T> {
    fn of(value: &impl Transportable) -> Self {
        let sound = message(value).as_bytes().to_vec();
        Self {
            bytes: sound.clone(),
            sound,
            of: std::marker::PhantomData,
        }
    }

    /// Where the part of this kind stands that is met as the `nth`.
    fn at(&self, meaning: Meaning, nth: usize) -> usize {
        let places = places::<T>(&self.sound);
        assert!(places.complete);
        let mut all = places.all.iter().filter(|place| place.meaning == meaning);
        all.nth(nth).unwrap().at.start
    }

    fn word(&self, meaning: Meaning, nth: usize) -> u64 {
        let at = self.at(meaning, nth);
        u64::from_le_bytes(self.sound[at..at + 8].try_into().unwrap())
    }

    /// Replaces a word of the message as it was written.
    fn put(&mut self, meaning: Meaning, nth: usize, word: u64) -> &mut Self {
        let at = self.at(meaning, nth);
        self.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        self
    }

    fn put_byte(&mut self, meaning: Meaning, nth: usize, byte: u8) -> &mut Self {
        let at = self.at(meaning, nth);
        self.bytes[at] = byte;
        self
    }

    /// The error, after which the message is sound again.
    #[track_caller]
    fn error(&mut self) -> ReadError {
        let bytes = std::mem::replace(&mut self.bytes, self.sound.clone());
        match read::<T>(&bytes) {
            Ok(_) => panic!("it is accepted"),
            Err(error) => error,
        }
    }

    /// Expects an error of this field that says this.
    #[track_caller]
    fn expect(&mut self, field: &str, says: &str) {
        match self.error() {
            ReadError::Value { path, what, .. } => {
                assert_eq!(path, field, "{what}");
                assert!(what.contains(says), "{path}: {what}");
            }
            other => panic!("{other}"),
        }
    }
}

#[derive(Transportable, Debug, PartialEq)]
#[repr(C)]
struct Lists<'b> {
    numbers: &'b [u32],
    rows: &'b [Row<'b>],
    text: &'b str,
    change: &'b mut [u64],
    maybe: Option<&'b [u16]>,
    nested: Option<(u8, &'b [u32])>,
}

#[derive(Transportable, Debug, PartialEq, Clone, Copy)]
#[repr(C)]
struct Row<'b> {
    name: &'b str,
}

fn lists() -> Forged<Lists<'static>> {
    let rows = [Row { name: "a" }, Row { name: "ä" }];
    Forged::of(&Lists {
        numbers: &[1, 2, 3],
        rows: &rows,
        text: "text",
        change: &mut [4, 5],
        maybe: Some(&[6]),
        nested: Some((7, &[8])),
    })
}

/// Each list: the place of its words, its name, and the size of its elements. What stands in a
/// tuple in an option is blamed on the option.
const LISTS: [(usize, &str, u64); 6] = [
    (0, "Lists.numbers", 4),
    (1, "Lists.rows", 16),
    (2, "Lists.text", 1),
    (3, "Lists.change", 8),
    (4, "Lists.maybe", 2),
    (5, "Lists.nested", 4),
];

#[test]
fn no_length_reaches_past_the_end() {
    let mut lists = lists();
    for (nth, name, size) in LISTS {
        let (own, place) = (
            lists.word(Meaning::Length, nth),
            lists.word(Meaning::Offset, nth),
        );
        let last_byte_wraps = (u64::MAX - place) / size + 1;
        let largest = [
            // More than there is, by as much as the rest of the message has and beyond it.
            own + 100,
            1 << 31,
            u64::from(u32::MAX),
            u64::from(u32::MAX) + 1,
            1 << 60,
            1 << 61,
            1 << 62,
            1 << 63,
            u64::MAX / size,
            u64::MAX,
            // The size in bytes wraps to a small number, and the end to one before the place.
            u64::MAX / size + u64::from(size > 1),
            (u64::MAX / size).wrapping_add(2),
            last_byte_wraps,
            last_byte_wraps.wrapping_add(1),
            (1 << 63) / size,
            (1 << 63) / size + 1,
        ];
        for length in largest {
            // Twice the last of a size of one is small.
            if length > own {
                lists.put(Meaning::Length, nth, length);
                lists.expect(name, "reaches past the end of its segment");
            }
        }
    }
}

#[test]
fn the_last_target_ends_where_its_segment_ends() {
    let forged = || Forged::<(u8, Vec<u32>)>::of(&(1u8, vec![1u32, 2, 3]));
    let length = |length| {
        let mut forged = forged();
        forged.put(Meaning::Length, 0, length);
        forged
    };
    assert!(read::<(u8, Vec<u32>)>(&length(3).bytes).is_ok());
    let name = "(u8, Vec<u32>).1";
    length(4).expect(name, "reaches past the end of its segment");
    for (short, bytes) in [(2, 4), (1, 8), (0, 12)] {
        let error = length(short).error();
        let segment = MessageSegment::Bulk;
        assert_eq!(error, ReadError::Unused { segment, bytes });
    }
    let mut text = Forged::<String>::of(&"täxt".to_owned());
    text.put(Meaning::Length, 0, 6);
    text.expect("String", "reaches past the end of its segment");
    text.put(Meaning::Length, 0, 2);
    text.expect("String", "ends inside a UTF-8 character");
    text.put(Meaning::Length, 0, 0);
    let segment = MessageSegment::Text;
    assert_eq!(text.error(), ReadError::Unused { segment, bytes: 5 });
    let mut rows = Forged::<Vec<String>>::of(&vec!["a".to_owned(), "b".to_owned()]);
    rows.put(Meaning::Length, 0, 3);
    rows.expect("Vec<String>", "reaches past the end of its segment");
    rows.put(Meaning::Length, 0, 0);
    let segment = MessageSegment::Objects;
    assert_eq!(rows.error(), ReadError::Unused { segment, bytes: 32 });
}

#[test]
fn no_offset_but_the_next_one() {
    let mut lists = lists();
    for (nth, name, size) in LISTS {
        let own = lists.word(Meaning::Offset, nth);
        let others = [
            1,
            own + 1,
            own - 1,
            own + size,
            own.wrapping_sub(size),
            own | 1 << 32,
            own | 1 << 62,
            u64::from(u32::MAX),
            1 << 63,
            u64::MAX - 7,
            u64::MAX,
        ];
        for place in others {
            if place != own {
                lists.put(Meaning::Offset, nth, place);
                lists.expect(name, "does not point to the next free place");
            }
        }
        // None where there must be something.
        if nth != 4 {
            lists.put(Meaning::Offset, nth, 0);
            lists.expect(name, "does not point to the next free place");
        }
    }
    lists.put(Meaning::Offset, 4, 0);
    // What would be the third list's is taken for the fourth's.
    lists.expect("Lists.nested", "does not point to the next free place");
}

#[test]
fn no_target_is_misaligned() {
    // The bulk segment begins where the objects end, which its alignment of 1 allows.
    let mut bytes = message(&(vec![1u64, 2], 1u8)).as_bytes().to_vec();
    let end = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
    for align in [1u32, 2, 4] {
        bytes[4..8].copy_from_slice(&align.to_le_bytes());
        let error = read::<(Vec<u64>, u8)>(&bytes).err().unwrap();
        assert_eq!(end % 8, 0);
        let ReadError::Value { path, what, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(path, "(Vec<u64>, u8).0");
        assert!(what.contains("reaches past the end"), "{what}");
    }
    for align in [0u32, 3, 9, 129, 256, 1 << 31, u32::MAX] {
        bytes[4..8].copy_from_slice(&align.to_le_bytes());
        let error = read::<(Vec<u64>, u8)>(&bytes).err().unwrap();
        let len = bytes.len();
        assert_eq!(error, ReadError::Lengths { len });
    }
}

#[test]
fn lengths_of_the_header_do_not_overflow() {
    let sound = lists().sound;
    let len = sound.len();
    for at in [16, 24, 32] {
        let own = u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
        let words = [
            own + 128,
            u64::from(u32::MAX),
            1 << 32 | own,
            1 << 63 | own,
            u64::MAX - own,
            u64::MAX - 127,
            u64::MAX,
        ];
        for word in words {
            let mut bytes = sound.clone();
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            assert_eq!(
                read::<Lists<'_>>(&bytes).err().unwrap(),
                ReadError::Lengths { len }
            );
        }
    }
    // Two that cancel each other out.
    let mut bytes = sound.clone();
    bytes[24..32].copy_from_slice(&(u64::MAX - 63).to_le_bytes());
    let text = u64::from_le_bytes(sound[32..40].try_into().unwrap());
    bytes[32..40].copy_from_slice(&(text + 128).to_le_bytes());
    assert_eq!(
        read::<Lists<'_>>(&bytes).err().unwrap(),
        ReadError::Lengths { len }
    );
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct Nothings<'b> {
    units: &'b [()],
    arrays: &'b [[u64; 0]],
    change: &'b mut [()],
    map: &'b [&'b [()]],
}

#[test]
fn elements_without_size_by_the_exabyte() {
    let inner = [[(); 3].as_slice(); 40];
    let mut forged = Forged::<Nothings<'_>>::of(&Nothings {
        units: &[(); 1],
        arrays: &[[]; 2],
        change: &mut [(); 3],
        map: &inner,
    });
    let says = "more elements without size than Limits::zero_sized allows";
    for (nth, name) in [
        (0, "Nothings.units"),
        (1, "Nothings.arrays"),
        (2, "Nothings.change"),
    ] {
        for length in [65_537, 1 << 32, 1 << 60, 1 << 63, u64::MAX - 5, u64::MAX] {
            forged.put(Meaning::Length, nth, length);
            forged.expect(name, says);
        }
    }
    // Each is within the limit, all of them are not.
    for nth in 4..44 {
        forged.put(Meaning::Length, nth, 2000);
    }
    forged.expect("Nothings.map[32]", says);

    let mut maps = Forged::<HashMap<(), ()>>::of(&HashMap::from([((), ())]));
    maps.put(Meaning::Length, 0, 1 << 60);
    maps.expect("HashMap<(), ()>.keys.elements", says);
    maps.put(Meaning::Length, 2, 1 << 60);
    maps.expect("HashMap<(), ()>.values", says);
}

#[test]
fn elements_without_size_may_stand_at_one_place() {
    type Value = (Vec<()>, Vec<()>, Vec<u8>);
    let mut forged = Forged::<Value>::of(&(vec![(); 2], vec![(); 3], vec![7u8]));
    assert_eq!(
        forged.word(Meaning::Offset, 0),
        forged.word(Meaning::Offset, 1)
    );
    let received = read::<Value>(&forged.bytes).unwrap();
    let (a, b, c) = received.get();
    assert_eq!((a.len(), b.len(), *c), (2, 3, [7].as_slice()));
    forged.put(Meaning::Offset, 1, 129);
    forged.expect("(Vec<()>, Vec<()>, Vec<u8>).1", "next free place");
}

#[test]
fn no_two_targets_overlap() {
    type Value = (Vec<u32>, Vec<u32>, Vec<String>, Vec<String>, String, String);
    let texts = || vec!["ab".to_owned()];
    let value = (
        vec![1u32, 2],
        vec![3u32],
        texts(),
        texts(),
        "cd".to_owned(),
        "ef".to_owned(),
    );
    let mut forged = Forged::<Value>::of(&value);
    for nth in [1, 3, 5] {
        let name = format!("(Vec<u32>, Vec<u32>, Vec<String>, Vec<String>, String, String).{nth}");
        // All of the one before, and its end.
        let before = forged.word(Meaning::Offset, nth - 1);
        let own = forged.word(Meaning::Offset, nth);
        for place in [before, own - (own - before) / 2] {
            forged.put(Meaning::Offset, nth, place);
            forged.expect(&name, "does not point to the next free place");
        }
    }
}

#[derive(Transportable, Debug)]
struct List<'b> {
    ok: bool,
    next: Option<&'b List<'b>>,
}

#[test]
fn a_list_of_a_million() {
    let nodes = Arena::new();
    let mut head = List {
        ok: true,
        next: None,
    };
    for _ in 0..1_000_000 {
        let next = Some(&*nodes.alloc(head));
        head = List { ok: true, next };
    }
    let bytes = message(&head).as_bytes().to_vec();
    let Err(ReadError::Value { path, what, .. }) = read::<List<'_>>(&bytes) else {
        panic!("it is accepted");
    };
    assert!(
        path.starts_with("List…(") && path.ends_with(".next.next.next"),
        "{path}"
    );
    assert!(
        what.contains("leads deeper than Limits::depth allows"),
        "{what}"
    );
    let mut limits = Limits::default();
    limits.depth = None;
    let filled = Spent::heap(bytes.len()).copy_from(&bytes).unwrap();
    assert!(Reader::new(limits).read::<List<'_>>(filled).is_ok());
}

#[test]
fn plain_pointers_lead_in_no_circle() {
    let last = List {
        ok: true,
        next: None,
    };
    let middle = List {
        ok: true,
        next: Some(&last),
    };
    let first = List {
        ok: true,
        next: Some(&middle),
    };
    let mut list = Forged::<List<'_>>::of(&first);
    let root = list.word(Meaning::Offset, 0) - size_of::<List<'_>>() as u64;
    for (nth, name) in [
        (0, "List.next"),
        (1, "List.next.next"),
        (2, "List.next.next.next"),
    ] {
        for target in [
            root,
            list.word(Meaning::Offset, 0),
            list.word(Meaning::Offset, 1),
        ] {
            if target != list.word(Meaning::Offset, nth) {
                list.put(Meaning::Offset, nth, target);
                list.expect(name, "does not point to the next free place");
            }
        }
        // Plain pointers know no shared targets.
        list.put(Meaning::Offset, nth, 1 << 63);
        list.expect(name, "does not point to the next free place");
    }
}

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

/// The names of the pointers to a target that was met before, in order.
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
        // The root, all other targets, and numbers of none.
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
    // Of the text and the bytes, first and again.
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

#[derive(Transportable, Debug)]
#[transportable(derive(Debug))]
#[repr(C)]
struct Checked {
    flag: bool,
    letter: char,
    number: NonZeroU32,
    side: Side,
    step: Step,
    text_tag: Option<bool>,
    slot_tag: Option<u32>,
    result: Result<u8, bool>,
    list: Vec<Side>,
    boxed: Box<Inside>,
}

#[derive(Transportable, Debug)]
#[transportable(derive(Debug))]
#[repr(C)]
struct Inside {
    letters: Vec<char>,
    name: String,
}

#[derive(Transportable, Debug, Clone, Copy)]
enum Side {
    Buy,
    Sell = 9,
}

#[derive(Transportable, Debug, Clone, Copy)]
#[repr(i16)]
enum Step {
    Back = -2,
    On(bool) = 300,
}

fn checked() -> Forged<Checked> {
    let _ = Step::Back;
    Forged::of(&Checked {
        flag: true,
        letter: 'x',
        number: NonZeroU32::MIN,
        side: Side::Buy,
        step: Step::On(true),
        text_tag: Some(true),
        slot_tag: Some(1),
        result: Err(true),
        list: vec![Side::Buy, Side::Sell],
        boxed: Box::new(Inside {
            letters: vec!['a', 'b'],
            name: "täxt".to_owned(),
        }),
    })
}

#[test]
fn values_that_are_none() {
    let mut checked = checked();
    for byte in [2, 3, 0x80, 0xff] {
        checked.put_byte(Meaning::Value, 0, byte);
        checked.expect("Checked.flag", &format!("byte {byte} is not a bool"));
        checked.put_byte(Meaning::Tag, 0, if byte == 3 { 1 } else { byte });
        checked.expect("Checked.side", "is not a Side");
        checked.put_byte(Meaning::Tag, 3, byte);
        checked.expect("Checked.slot_tag", "Option<u32>");
        checked.put_byte(Meaning::Tag, 5, byte);
        checked.expect("Checked.list[0]", "is not a Side");
    }
    for byte in [2, 3, 0x7f] {
        checked.put_byte(Meaning::Tag, 2, byte);
        checked.expect(
            "Checked.text_tag",
            "the tag of the Option<bool>, in the text",
        );
    }
    let at = checked.at(Meaning::Value, 1);
    for letter in [0xd800u32, 0xdfff, 0x11_0000, 0x8000_0078, u32::MAX] {
        checked.bytes[at..at + 4].copy_from_slice(&letter.to_le_bytes());
        checked.expect("Checked.letter", &format!("{letter:#x} is not a char"));
    }
    checked.put_byte(Meaning::Value, 2, 0);
    checked.expect("Checked.number", "0x0 is not a NonZero<u32>");
    let at = checked.at(Meaning::Tag, 1);
    for tag in [0i16, -1, -3, 299, 301, i16::MIN] {
        checked.bytes[at..at + 2].copy_from_slice(&tag.to_le_bytes());
        checked.expect("Checked.step", "is not a Step");
    }
    checked.put_byte(Meaning::Value, 3, 2);
    checked.expect("Checked.step.0", "byte 2 is not a bool");
}

#[test]
fn values_that_are_none_behind_pointers() {
    let mut checked = checked();
    let last = checked.sound.len();
    let text = last - "täxt".len();
    for byte in [0xff, 0xc0, 0x80] {
        checked.bytes[text] = byte;
        assert_eq!(checked.error(), ReadError::NotUtf8 { offset: text });
    }
    // A character that the text's end cuts.
    checked.bytes[last - 1] = 0xc3;
    let offset = last - 1;
    assert_eq!(checked.error(), ReadError::NotUtf8 { offset });
    let at = checked.at(Meaning::Value, 7);
    checked.bytes[at + 1] = 0xd8;
    checked.expect("Checked.boxed.letters[0]", "0xd861 is not a char");
}

#[test]
fn keys_and_values_of_maps_are_checked() {
    type Value = (BTreeMap<char, bool>, HashMap<Side2, u8>);
    let value = (
        BTreeMap::from([('a', true)]),
        HashMap::from([(Side2::A, 1u8)]),
    );
    let mut maps = Forged::<Value>::of(&value);
    let name = "(BTreeMap<char, bool>, HashMap<Side2, u8>)";
    let at = maps.at(Meaning::Value, 0);
    maps.bytes[at + 1] = 0xd8;
    maps.expect(
        &format!("{name}.0.keys.elements[0]"),
        "0xd861 is not a char",
    );
    maps.put_byte(Meaning::Value, 1, 2);
    maps.expect(&format!("{name}.0.values[0]"), "byte 2 is not a bool");
    maps.put_byte(Meaning::Tag, 0, 1);
    maps.expect(
        &format!("{name}.1.keys.elements[0]"),
        "byte 1 is not a Side2",
    );
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Side2 {
    A,
}

#[transportable]
trait Figure: Debug {
    fn area(&self) -> f64;
}

#[transportable]
trait Named: Debug {
    fn name(&self) -> String;
}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Circle(f64);

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Square(f64);

/// As large and as aligned as the others, and a class of another trait.
#[derive(Transportable, Debug)]
#[transportable(implements(Named))]
struct Id(f64);

impl Figure for Circle {
    fn area(&self) -> f64 {
        3.0 * self.0
    }
}

impl Figure for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Named for Id {
    fn name(&self) -> String {
        self.0.to_string()
    }
}

#[derive(Transportable)]
#[repr(C)]
struct Drawing {
    main: Box<dyn Figure>,
    best: Rc<dyn Figure>,
    also: Rc<dyn Figure>,
    named: Box<dyn Named>,
}

fn drawing() -> Forged<Drawing> {
    let best: Rc<dyn Figure> = Rc::new(Square(2.0));
    Forged::of(&Drawing {
        main: Box::new(Circle(1.0)),
        best: best.clone(),
        also: best,
        named: Box::new(Id(5.0)),
    })
}

#[test]
fn classes_that_are_unknown_or_of_another_trait() {
    let mut drawing = drawing();
    let (circle, square) = (
        drawing.word(Meaning::Class, 0),
        drawing.word(Meaning::Class, 1),
    );
    let id = drawing.word(Meaning::Class, 3);
    let root = jstream::descriptor::<Drawing>();
    for class in [id, 0, 1, circle ^ 1, circle.swap_bytes(), root, u64::MAX] {
        let says = format!("class {class:#018x} is no registered implementation of dyn Figure");
        drawing.put(Meaning::Class, 0, class);
        drawing.expect("Drawing.main", &says);
        drawing.put(Meaning::Class, 1, class);
        drawing.expect("Drawing.best", &says);
    }
    for class in [circle, square] {
        drawing.put(Meaning::Class, 3, class);
        drawing.expect(
            "Drawing.named",
            "is no registered implementation of dyn Named",
        );
    }
    // One object is of one class.
    for class in [circle, id, 0] {
        drawing.put(Meaning::Class, 2, class);
        drawing.expect("Drawing.also", "names a shared object of its type");
    }
    // Another class of the trait and size: another object, as good as any.
    let mut bytes = drawing.sound.clone();
    let at = drawing.at(Meaning::Class, 0);
    bytes[at..at + 8].copy_from_slice(&square.to_le_bytes());
    let received = read::<Drawing>(&bytes).unwrap();
    assert_eq!(received.get().main.area(), 1.0);
    assert_eq!(received.get().named.name(), "5");
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Addresses<'b> {
    drawing: Drawing,
    #[transportable(skip, form = Option<fn() -> u8>)]
    function: Option<fn() -> u8>,
    #[transportable(skip)]
    place: usize,
    link: Cell<Option<&'b Row<'b>>>,
    maps: HashMap<String, Rc<u64>>,
    large: Vec<u64>,
    none: Option<(u8, Box<str>)>,
}

fn addresses() -> Vec<u8> {
    static ROW: Row<'static> = Row { name: "row" };
    let best: Rc<dyn Figure> = Rc::new(Square(2.0));
    let drawing = Drawing {
        main: Box::new(Circle(1.0)),
        best: best.clone(),
        also: best,
        named: Box::new(Id(5.0)),
    };
    let one = Rc::new(7);
    let value = Addresses {
        place: std::ptr::from_ref(&drawing).addr(),
        drawing,
        function: Some(|| 3),
        link: Cell::new(Some(&ROW)),
        maps: [("a".to_owned(), one.clone()), ("b".to_owned(), one)].into(),
        large: vec![3; 100],
        none: None,
    };
    // What was in the jbuf before would be addresses too.
    let mut jbuf = Spent::heap(1 << 14);
    for (i, byte) in jbuf.uninit_mut().iter_mut().enumerate() {
        byte.write(value.place.to_le_bytes()[i % 8]);
    }
    let bytes = Writer::new().write(&value, jbuf).unwrap();
    bytes.as_bytes().to_vec()
}

/// Two processes have their functions, vtables, stacks and heaps at different places, and write the
/// same bytes.
#[test]
#[cfg(target_os = "linux")]
fn addresses_never_stand_on_the_wire() {
    const TOLD: &str = "JSTREAM_TEST_TELL";
    let bytes = addresses();
    if std::env::var_os(TOLD).is_some() {
        println!("{TOLD}{bytes:02x?}{TOLD}");
        return;
    }
    let tell = || {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "addresses_never_stand_on_the_wire",
                "--nocapture",
            ])
            .env(TOLD, "1")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for _ in 0..2 {
        let output = tell();
        assert!(
            output.contains(&format!("{TOLD}{bytes:02x?}{TOLD}")),
            "{output}"
        );
    }
    // No word of it, wherever it begins, is the address of anything that is mapped. Below 4 GiB, where
    // valgrind puts the program, addresses look like other numbers, as they do in the terabytes that
    // a sanitizer reserves for itself.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped: Vec<_> = maps
        .lines()
        .filter_map(|line| line.split_once(' ')?.0.split_once('-'))
        .map(|(from, to)| [from, to].map(|end| usize::from_str_radix(end, 16).unwrap()))
        .filter(|[from, to]| to - from < 1 << 36)
        .collect();
    let is_mapped = |word: usize| mapped.iter().any(|[from, to]| (*from..*to).contains(&word));
    assert!(is_mapped(std::ptr::from_ref(&bytes).addr()));
    let is_address = |word: usize| word >> 32 != 0 && is_mapped(word);
    for (at, word) in bytes.windows(8).enumerate() {
        let word = usize::from_le_bytes(word.try_into().unwrap());
        assert!(!is_address(word), "{word:#x} at {at:#x} is an address");
    }
}
