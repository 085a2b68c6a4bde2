//! The vectors: values, and what a reader by the page alone has to find in their messages.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZeroI16, NonZeroU8, NonZeroU32, NonZeroU128, Saturating, Wrapping};
use std::ops::Bound;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use jstream::schema::Schema;
use jstream::{ReadError, Reader, Spent, Transportable, Writer};

use super::types::twice::{Twice, first, second};
use super::types::*;

/// How the types of a vector are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// As the language says: the same with every compiler.
    Fixed,
    /// As the compiler chooses, in part. The schema says how.
    Chosen,
}

/// One vector.
pub struct Case {
    pub name: &'static str,
    pub layout: Layout,
    pub schema: Vec<u8>,
    /// The schemas of the classes of trait objects.
    pub classes: Vec<Vec<u8>>,
    pub message: Vec<u8>,
    pub json: &'static str,
    /// Reads a message as the vector's type, and writes what arrived.
    pub read: fn(&[u8]) -> Result<Vec<u8>, ReadError>,
}

pub fn schema_of<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

fn bytes_of<T: Transportable>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = Writer::new().gather(value, |segments| {
        segments
            .iter()
            .for_each(|segment| bytes.extend_from_slice(segment));
    });
    written.unwrap();
    bytes
}

fn read<T>(bytes: &[u8]) -> Result<Vec<u8>, ReadError>
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable,
{
    let filled = Spent::heap(bytes.len()).copy_from(bytes).unwrap();
    let received = Reader::default().read::<T>(filled);
    let received = received.map_err(|failure| failure.error)?;
    Ok(received.with(|form| bytes_of(form)))
}

fn case<T>(name: &'static str, layout: Layout, value: &T, json: &'static str) -> Case
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable,
{
    Case {
        name,
        layout,
        schema: schema_of::<T>(),
        classes: Vec::new(),
        message: bytes_of(value),
        json,
        read: read::<T>,
    }
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// All vectors.
pub fn cases() -> Vec<Case> {
    let mut all = plain();
    all.extend(pointers());
    all.extend(tagged());
    all.extend(shared());
    all.extend(of_std());
    all.extend(features());
    all
}

fn plain() -> Vec<Case> {
    let integers = Integers {
        a: 0xfe,
        b: -2,
        c: 0xfedc,
        d: -0x1234,
        e: 0xfedc_ba98,
        f: i32::MIN,
        g: u64::MAX - 1,
        h: i64::MIN,
        i: u128::MAX - 0xff,
        j: i128::MIN + 1,
        k: 5,
        l: -5,
    };
    let floats = Floats {
        single: 0.1,
        double: 0.1,
        special: [f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::NAN],
        many: &[1.5, -2.25, 3.0],
    };
    let scalars = Scalars {
        yes: true,
        no: false,
        letter: 'ß',
        nothing: (),
        phantom: PhantomData,
        one: NonZeroU8::MIN,
        minus: NonZeroI16::new(-1).unwrap(),
        large: NonZeroU128::MAX,
        order: [Ordering::Less, Ordering::Equal, Ordering::Greater],
        wrapping: Wrapping(65535),
        saturating: Saturating(-128),
        full: ..,
    };
    let arrays = Arrays {
        matrix: [[1, 2], [3, 4], [5, 6]],
        texts: ["one", "two"],
        units: [(); 3],
        none: [],
        letters: ['a', '\u{10ffff}'],
    };
    let enums = Enums {
        side: Side::Sell,
        color: Color::Blue,
        wide: Wide::High,
        signed: Signed::Minus,
        colors: &[Color::Green, Color::Red, Color::Blue],
        sides: &[Side::Sell, Side::Buy],
    };
    let names = Names {
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_1: 1,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_2: 2,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_3: 3,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_4: 4,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_5: 5,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_6: 6,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_7: 7,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_8: 8,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_9: 9,
        größe: 10,
    };
    vec![
        case("number", Layout::Fixed, &0x1234_5678u32, "305419896"),
        case("nothing", Layout::Fixed, &(), "null"),
        case(
            "integers",
            Layout::Fixed,
            &integers,
            r#"{"a": 254, "b": -2, "c": 65244, "d": -4660, "e": 4275878552, "f": -2147483648,
            "g": 18446744073709551614, "h": -9223372036854775808,
            "i": 340282366920938463463374607431768211200,
            "j": -170141183460469231731687303715884105727, "k": 5, "l": -5}"#,
        ),
        case(
            "floats",
            Layout::Fixed,
            &floats,
            r#"{"single": 0.10000000149011612, "double": 0.1,
            "special": ["inf", "-inf", -0.0, "nan"], "many": [1.5, -2.25, 3.0]}"#,
        ),
        case(
            "scalars",
            Layout::Fixed,
            &scalars,
            r#"{"yes": true, "no": false, "letter": "ß", "nothing": null, "phantom": null, "one": 1,
            "minus": -1, "large": 340282366920938463463374607431768211455,
            "order": ["Less", "Equal", "Greater"], "wrapping": {"0": 65535}, "saturating": {"0": -128},
            "full": null}"#,
        ),
        case(
            "arrays",
            Layout::Fixed,
            &arrays,
            r#"{"matrix": [[1, 2], [3, 4], [5, 6]], "texts": ["one", "two"],
            "units": [null, null, null], "none": [], "letters": ["a", "\udbff\udfff"]}"#,
        ),
        case(
            "enums",
            Layout::Fixed,
            &enums,
            r#"{"side": "Sell", "color": "Blue", "wide": "High", "signed": "Minus",
            "colors": ["Green", "Red", "Blue"], "sides": ["Sell", "Buy"]}"#,
        ),
        case(
            "names",
            Layout::Fixed,
            &names,
            r#"{"a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_1": 1,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_2": 2,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_3": 3,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_4": 4,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_5": 5,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_6": 6,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_7": 7,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_8": 8,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_9": 9,
            "größe": 10}"#,
        ),
        case(
            "twice",
            Layout::Fixed,
            &Twice {
                a: &first::Part { of: 1 },
                b: &second::Part { of: 2 },
            },
            r#"{"a": {"of": 1}, "b": {"of": 2}}"#,
        ),
    ]
}

fn pointers() -> Vec<Case> {
    let parent = leak(Order {
        id: 1,
        symbol: "PARENT",
        legs: &[],
        parent: None,
        open: false,
        venue: "",
    });
    let order = Order {
        id: 7,
        symbol: "ÄCME",
        legs: &[
            Leg {
                price: 99.5,
                quantity: 2,
                side: Side::Buy,
            },
            Leg {
                price: -1.0,
                quantity: 3,
                side: Side::Sell,
            },
        ],
        parent: Some(parent),
        open: true,
        venue: "ö",
    };
    let references = References {
        flat: &77,
        object: &"behind",
        units: &[(), ()],
        slices: &[&[1, 2, 3], &[], &[4]],
        bytes: &[1, 2, 3],
        none: &[],
        no_objects: &[],
        last: &9,
    };
    static BYTES: [u8; 600] = [0x5a; 600];
    let long = Long {
        first: &[1],
        second: &BYTES,
        third: &[1, 2],
    };
    let aligned = Aligned {
        id: 3,
        line: &[Line { of: 4 }, Line { of: 5 }],
        object: &Pointing { at: "here" },
    };
    let leaf = |id| Tree {
        id,
        children: &[],
        next: None,
    };
    let tree = Tree {
        id: 1,
        children: Box::leak(Box::new([
            leaf(2),
            Tree {
                id: 3,
                children: Box::leak(Box::new([leaf(4)])),
                next: Some(leak(leaf(5))),
            },
        ])),
        next: Some(leak(leaf(6))),
    };
    let owners = Owners {
        name: "Ada".to_owned(),
        empty: String::new(),
        numbers: vec![1, 2, 3],
        names: vec!["x".to_owned(), "→".to_owned()],
        nested: vec![vec![1], Vec::new(), vec![2, 3]],
        boxed: Box::new(500),
        text: "boxed".into(),
        next: Some(Box::new(Owners {
            name: "next".to_owned(),
            empty: String::new(),
            numbers: Vec::new(),
            names: Vec::new(),
            nested: Vec::new(),
            boxed: Box::new(0),
            text: "".into(),
            next: None,
            cow: Cow::Borrowed("borrowed"),
            cows: Cow::Owned(Vec::new()),
            events: Vec::new(),
        })),
        cow: Cow::Owned("owned".to_owned()),
        cows: Cow::Borrowed(&[8, 9]),
        events: vec![
            Event::Nothing,
            Event::Said {
                text: "hello".to_owned(),
                to: vec![1, 2],
            },
            Event::Moved(-1, 1),
        ],
    };
    let fields = Fields {
        id: 1,
        handle: 99,
        by: Angle { radians: 0.5 },
        of: 1234,
        values: vec![1.0, 2.0],
    };
    vec![
        case("text", Layout::Fixed, &"grüße", r#""grüße""#),
        case(
            "slice",
            Layout::Fixed,
            &[7u16, 8, 9].as_slice(),
            "[7, 8, 9]",
        ),
        case(
            "order",
            Layout::Fixed,
            &order,
            r#"{"id": 7, "symbol": "ÄCME", "legs": [
            {"price": 99.5, "quantity": 2, "side": "Buy"},
            {"price": -1.0, "quantity": 3, "side": "Sell"}],
            "parent": {"Some": {"id": 1, "symbol": "PARENT", "legs": [], "parent": null, "open": false,
            "venue": ""}}, "open": true, "venue": "ö"}"#,
        ),
        case(
            "references",
            Layout::Fixed,
            &references,
            r#"{"flat": 77, "object": "behind", "units": [null, null],
            "slices": [[1, 2, 3], [], [4]], "bytes": [1, 2, 3], "none": [], "no_objects": [],
            "last": 9}"#,
        ),
        case(
            "long",
            Layout::Fixed,
            &long,
            leak(format!(
                r#"{{"first": [1], "second": [{}90], "third": [1, 2]}}"#,
                "90, ".repeat(599)
            )),
        ),
        case(
            "aligned",
            Layout::Fixed,
            &aligned,
            r#"{"id": 3, "line": [{"of": 4}, {"of": 5}], "object": {"at": "here"}}"#,
        ),
        case(
            "tree",
            Layout::Fixed,
            &tree,
            r#"{"id": 1, "children": [{"id": 2, "children": [], "next": null},
            {"id": 3, "children": [{"id": 4, "children": [], "next": null}],
            "next": {"Some": {"id": 5, "children": [], "next": null}}}],
            "next": {"Some": {"id": 6, "children": [], "next": null}}}"#,
        ),
        case(
            "owners",
            Layout::Fixed,
            &owners,
            r#"{"name": "Ada", "empty": "", "numbers": [1, 2, 3], "names": ["x", "→"],
            "nested": [[1], [], [2, 3]], "boxed": 500, "text": "boxed", "next": {"Some":
            {"name": "next", "empty": "", "numbers": [], "names": [], "nested": [], "boxed": 0,
            "text": "", "next": null, "cow": "borrowed", "cows": [], "events": []}},
            "cow": "owned", "cows": [8, 9], "events": ["Nothing",
            {"Said": {"text": "hello", "to": [1, 2]}}, {"Moved": {"0": -1, "1": 1}}]}"#,
        ),
        case(
            "fields",
            Layout::Fixed,
            &fields,
            r#"{"id": 1, "by": 0.5, "of": "1234", "values": [1.0, 2.0]}"#,
        ),
    ]
}

fn tagged() -> Vec<Case> {
    let shapes = Shapes {
        all: [
            Shape::Empty,
            Shape::Circle { radius: 2.5 },
            Shape::Named("named", &Shape::Circle { radius: 1.0 }),
            Shape::Flags([true, false, true]),
        ],
        flat: &[Flat::Some(1), Flat::None],
    };
    let options = |owned| Options {
        reference: [Some(&1), None],
        text: [Some("a"), None, Some("")],
        slice: [Some(&[1, 2]), None],
        non_zero: [NonZeroU32::new(5), None],
        flag: [None, Some(false), Some(true)],
        owned,
    };
    let tagged = Tagged {
        number: [Some(0), None],
        float: Some(1.5),
        pair: [
            Some(Pair {
                first: 1,
                second: "pair",
            }),
            None,
        ],
        unit: [Some(()), None],
        nested: [None, Some(None), Some(Some(3))],
        color: [Some(Color::Green), None],
        leg: Some(Leg {
            price: 1.0,
            quantity: 2,
            side: Side::Sell,
        }),
        result: [Ok(1), Err("wrong")],
        empty: [Ok(()), Err(())],
        many: &[Some(1), None],
    };
    let tuples = Tuples {
        one: (1,),
        mixed: (2, "three", 4),
        many: &[(5, true), (6, false)],
    };
    vec![
        case(
            "shapes",
            Layout::Fixed,
            &shapes,
            r#"{"all": ["Empty", {"Circle": {"radius": 2.5}},
            {"Named": {"0": "named", "1": {"Circle": {"radius": 1.0}}}},
            {"Flags": {"0": [true, false, true]}}], "flat": [{"Some": {"0": 1}}, "None"]}"#,
        ),
        case(
            "options",
            Layout::Fixed,
            &options(Some(leak(options(None)))),
            r#"{"reference": [{"Some": 1}, null], "text": [{"Some": "a"}, null, {"Some": ""}],
            "slice": [{"Some": [1, 2]}, null], "non_zero": [{"Some": 5}, null],
            "flag": [null, {"Some": false}, {"Some": true}], "owned": {"Some":
            {"reference": [{"Some": 1}, null], "text": [{"Some": "a"}, null, {"Some": ""}],
            "slice": [{"Some": [1, 2]}, null], "non_zero": [{"Some": 5}, null],
            "flag": [null, {"Some": false}, {"Some": true}], "owned": null}}}"#,
        ),
        case(
            "tagged",
            Layout::Chosen,
            &tagged,
            r#"{"number": [{"Some": 0}, null], "float": {"Some": 1.5},
            "pair": [{"Some": {"first": 1, "second": "pair"}}, null], "unit": [{"Some": null}, null],
            "nested": [null, {"Some": null}, {"Some": {"Some": 3}}],
            "color": [{"Some": "Green"}, null],
            "leg": {"Some": {"price": 1.0, "quantity": 2, "side": "Sell"}},
            "result": [{"Ok": 1}, {"Err": "wrong"}], "empty": [{"Ok": null}, {"Err": null}],
            "many": [{"Some": 1}, null]}"#,
        ),
        case(
            "tuples",
            Layout::Chosen,
            &tuples,
            r#"{"one": [1], "mixed": [2, "three", 4], "many": [[5, true], [6, false]]}"#,
        ),
    ]
}

fn shared() -> Vec<Case> {
    let boss = Rc::new(Member {
        name: "Ada".to_owned(),
        boss: None,
    });
    let other = Rc::new(Member {
        name: "Grace".to_owned(),
        boss: Some(boss.clone()),
    });
    let (motto, numbers): (std::sync::Arc<str>, std::sync::Arc<[u64]>) =
        ("on".into(), [1, 2].into());
    let team = Team {
        members: vec![other.clone(), boss.clone(), other],
        lead: Some(boss),
        absent: None,
        motto: motto.clone(),
        also: motto,
        numbers: numbers.clone(),
        same: numbers,
        own: Rc::new(3),
    };
    let ring = |name| {
        leak(Ring {
            name,
            next: Cell::new(None),
            back: Cell::new(None),
        })
    };
    let (a, b) = (ring("a"), ring("b"));
    a.next.set(Some(b));
    b.next.set(Some(a));
    b.back.set(Some(b));
    let figure: Rc<dyn Figure> = Rc::new(Circle { radius: 4.0 });
    let drawing = Drawing {
        figures: vec![
            Box::new(Circle { radius: 1.0 }),
            Box::new(Group {
                label: "both".to_owned(),
                parts: vec![Box::new(Dot), Box::new(Circle { radius: 2.0 })],
            }),
        ],
        one: Some(Box::new(Dot)),
        none: None,
        shared: [figure.clone(), figure],
    };
    let mut drawing = case(
        "drawing",
        Layout::Fixed,
        &drawing,
        r#"{"figures": [{"class": "Circle", "is": {"radius": 1.0}},
        {"class": "GroupRef", "is": {"label": "both", "parts": [{"class": "Dot", "is": {}},
        {"class": "Circle", "is": {"radius": 2.0}}]}}], "one": {"Some": {"class": "Dot", "is": {}}},
        "none": null, "shared": [
        {"shared": 1, "is": {"class": "Circle", "is": {"radius": 4.0}}}, {"shared": 1}]}"#,
    );
    drawing.classes = vec![
        schema_of::<Circle>(),
        schema_of::<Group>(),
        schema_of::<Dot>(),
    ];
    vec![
        case(
            "team",
            Layout::Fixed,
            &team,
            r#"{"members": [
            {"shared": 5, "is": {"name": "Grace", "boss": {"Some": {"shared": 1}}}},
            {"shared": 1}, {"shared": 5}],
            "lead": {"Some": {"shared": 1, "is": {"name": "Ada", "boss": null}}}, "absent": null,
            "motto": {"shared": 2, "is": "on"}, "also": {"shared": 2},
            "numbers": {"shared": 3, "is": [1, 2]}, "same": {"shared": 3},
            "own": {"shared": 4, "is": 3}}"#,
        ),
        case(
            "node",
            Layout::Fixed,
            &Node {
                next: Some(&Node { next: None, id: 2 }),
                id: 1,
            },
            r#"{"next": {"Some": {"shared": 1, "is": {"next": null, "id": 2}}}, "id": 1}"#,
        ),
        case(
            "ring",
            Layout::Fixed,
            a,
            r#"{"name": "a", "next": {"shared": 1, "is": {"name": "b", "next": {"shared": 0},
            "back": {"shared": 1}}}, "back": null}"#,
        ),
        drawing,
    ]
}

const MAPS: &str = r#"{"sorted": {"keys": {"elements": ["a", "b"]}, "values": [1, 2]},
    "set": {"elements": [-1, 2, 3]},
    "hashed": {"keys": {"elements": ["x", "y"], "starts": []}, "values": [[1], [2, 3]]},
    "few": {"elements": [600, 700, 500], "starts": []},
    "empty": {"keys": {"elements": [], "starts": []}, "values": []},
    "words": {"elements": ["seven", "four", "five", "eight", "three", "ten", "six", "one", "nine",
    "two"], "starts": [0, 0, 1, 2, 3, 3, 3, 8, 9, 9, 10]},
    "numbers": {"keys": {"elements": [81, 36, 49, 4, 0, 16, 25, 9, 121, 1, 64, 100],
    "starts": [0, 3, 4, 4, 5, 5, 5, 6, 8, 8, 9, 11, 12]},
    "values": [9, 6, 7, 2, 0, 4, 5, 3, 11, 1, 8, 10]}}"#;

fn of_std() -> Vec<Case> {
    let words = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let maps = Maps {
        sorted: BTreeMap::from([("b".to_owned(), 2), ("a".to_owned(), 1)]),
        set: BTreeSet::from([3, -1, 2]),
        hashed: HashMap::from([("x".to_owned(), vec![1]), ("y".to_owned(), vec![2, 3])]),
        few: HashSet::from([500, 600, 700]),
        empty: HashMap::new(),
        words: words.map(str::to_owned).into(),
        numbers: (0..12).map(|n| (n * n, u8::try_from(n).unwrap())).collect(),
    };
    let ranges = Ranges {
        range: 1..5,
        texts: "a".."b",
        from: 3..,
        to: ..-4,
        up_to: ..=9,
        inclusive: 2..=7,
        many: leak([1..=2, 3..=4]),
        bounds: [Bound::Included(1), Bound::Excluded(2), Bound::Unbounded],
        named: [
            Bound::Unbounded,
            Bound::Included("in"),
            Bound::Excluded("out"),
        ],
        unit: Bound::Excluded(()),
    };
    let epoch = SystemTime::UNIX_EPOCH;
    let times = Times {
        span: Duration::new(5, 6),
        longest: Duration::MAX,
        spans: [Some(Duration::new(7, 8)), None],
        since: epoch + Duration::new(1_700_000_000, 1),
        before: epoch - Duration::new(2, 500),
    };
    let v6 = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let socket_v6 = SocketAddrV6::new(v6, 443, 5, 6);
    let addresses = Addresses {
        v4: Ipv4Addr::new(192, 0, 2, 1),
        v6,
        ips: [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ],
        socket_v4: SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 2), 80),
        socket_v6,
        sockets: leak([
            SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 3), 8080)),
            SocketAddr::V6(socket_v6),
        ]),
    };
    vec![
        case("maps", Layout::Fixed, &maps, MAPS),
        case(
            "ranges",
            Layout::Chosen,
            &ranges,
            r#"{"range": {"start": 1, "end": 5}, "texts": {"start": "a", "end": "b"},
            "from": {"start": 3}, "to": {"end": -4}, "up_to": {"end": 9},
            "inclusive": {"start": 2, "end": 7},
            "many": [{"start": 1, "end": 2}, {"start": 3, "end": 4}],
            "bounds": [{"Included": {"0": 1}}, {"Excluded": {"0": 2}}, "Unbounded"],
            "named": ["Unbounded", {"Included": {"0": "in"}}, {"Excluded": {"0": "out"}}],
            "unit": {"Excluded": {"0": null}}}"#,
        ),
        case(
            "times",
            Layout::Chosen,
            &times,
            r#"{"span": [5, 6], "longest": [18446744073709551615, 999999999],
            "spans": [{"Some": [7, 8]}, null], "since": {"since": [1700000000, 1]},
            "before": {"before": [2, 500]}}"#,
        ),
        case(
            "addresses",
            Layout::Chosen,
            &addresses,
            r#"{"v4": "192.0.2.1", "v6": "2001:db8::1", "ips": ["127.0.0.1", "::1"],
            "socket_v4": ["192.0.2.2", 80], "socket_v6": ["2001:db8::1", 443, 5, 6],
            "sockets": [["192.0.2.3", 8080], ["2001:db8::1", 443, 5, 6]]}"#,
        ),
    ]
}

/// Vectors of types of other crates, which are there with their features only.
pub const OF_FEATURES: [&str; 4] = ["uuid.", "jiff.", "indexmap.", "ndarray."];

/// Types of other crates.
fn features() -> Vec<Case> {
    let mut all = Vec::new();
    #[cfg(feature = "uuid")]
    all.push(case(
        "uuid",
        Layout::Fixed,
        &uuid::Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff),
        r#""00112233-4455-6677-8899-aabbccddeeff""#,
    ));
    #[cfg(feature = "jiff")]
    {
        use jiff::civil::{date, time};
        let of_jiff = types_of_jiff::Jiff {
            timestamp: jiff::Timestamp::new(-5, -6).unwrap(),
            span: jiff::SignedDuration::new(-7, 0),
            date: date(-1, 2, 28),
            time: time(23, 59, 58, 999_999_999),
            both: date(2024, 2, 29).at(1, 2, 3, 4),
        };
        all.push(case(
            "jiff",
            Layout::Chosen,
            &of_jiff,
            r#"{"timestamp": [-5, -6], "span": [-7, 0], "date": [-1, 2, 28],
            "time": [23, 59, 58, 999999999], "both": [2024, 2, 29, 1, 2, 3, 4]}"#,
        ));
    }
    #[cfg(feature = "indexmap")]
    {
        let indexed: indexmap::IndexMap<String, u8> =
            (0..10).map(|n| (format!("key {n}"), n)).collect();
        all.push(case(
            "indexmap",
            Layout::Fixed,
            &indexed,
            r#"{"keys": {"elements": ["key 0", "key 1", "key 2", "key 3", "key 4", "key 5", "key 6",
            "key 7", "key 8", "key 9"], "table": [4, 2, 1, 3, 9, 5, 7, 8, 6, 0],
            "starts": [0, 1, 2, 2, 2, 3, 4, 6, 8, 9, 10]}, "values": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}"#,
        ));
    }
    #[cfg(feature = "ndarray")]
    {
        let array = ndarray::arr2(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        all.push(case(
            "ndarray",
            Layout::Fixed,
            &array,
            r#"{"shape": [3, 2], "data": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}"#,
        ));
    }
    all
}

#[cfg(feature = "jiff")]
mod types_of_jiff {
    use jstream::Transportable;

    #[derive(Transportable)]
    #[repr(C)]
    pub struct Jiff {
        pub timestamp: jiff::Timestamp,
        pub span: jiff::SignedDuration,
        pub date: jiff::civil::Date,
        pub time: jiff::civil::Time,
        pub both: jiff::civil::DateTime,
    }
}
