//! Vectors with pointers and shared targets.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use super::{Case, Layout, case, leak, schema_of};
use crate::types::*;

pub fn pointers() -> Vec<Case> {
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
    ]
}

pub fn owners() -> Vec<Case> {
    let leaf = |id| Tree {
        id,
        children: &[],
        next: None,
    };
    let tree = Tree {
        id: 1,
        children: leak([
            leaf(2),
            Tree {
                id: 3,
                children: leak([leaf(4)]),
                next: Some(leak(leaf(5))),
            },
        ]),
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

pub fn shared() -> Vec<Case> {
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
    let mut drawing = case(
        "drawing",
        Layout::Fixed,
        &drawing(),
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

/// Trait objects of three classes.
pub fn drawing() -> Drawing {
    let figure: Rc<dyn Figure> = Rc::new(Circle { radius: 4.0 });
    Drawing {
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
    }
}
