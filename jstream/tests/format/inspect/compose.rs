//! Messages composed from JSON equal those that the writer makes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use jstream::inspect::{Catalog, Options, compose, message, value};
use jstream::schema::Schema;
use jstream::{Transportable, Writer};
use serde_json::{Value as Json, json};

/// Options that keep every value of a message.
fn whole() -> Options {
    let mut options = Options::default();
    options.elements = usize::MAX;
    options.values = usize::MAX;
    options.text = usize::MAX;
    options.depth = 500;
    options
}

/// Vectors that can't be composed from JSON: cells, classes, hashed maps, times, addresses, and
/// further pointers to shared targets.
const REFUSED: [&str; 13] = [
    "addresses",
    "chrono",
    "drawing",
    "half",
    "indexmap",
    "jiff",
    "maps",
    "ring",
    "scalars",
    "team",
    "time",
    "times",
    "uuid",
];

#[test]
fn vectors_are_made_again_byte_by_byte() {
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format/vectors");
    let (mut made, mut refused) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(vectors).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "bin") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        let schema = fs::read(path.with_extension("schema")).unwrap();
        let mut catalog = Catalog::default();
        catalog.add_bytes(&schema).unwrap();
        for class in 0..9 {
            if let Ok(class) = fs::read(path.with_extension(format!("class{class}.schema"))) {
                catalog.add_bytes(&class).unwrap();
            }
        }
        let found = message(&bytes, &catalog, &whole());
        assert!(found.fault.is_none(), "{name}");
        let (schema, root) = Schema::from_bytes(&schema).unwrap();
        let shown = value::value(&found);
        match compose(&schema, root, &shown) {
            Ok(composed) => {
                assert!(composed == bytes, "{name}: {shown}");
                made.push(name);
            }
            Err(_) => refused.push(name),
        }
    }
    refused.sort_unstable();
    assert_eq!(refused, REFUSED);
    assert!(made.len() >= 20, "{made:?}");
}

#[derive(Transportable)]
#[repr(u8)]
enum Side {
    Buy,
    Limit { at: f64, until: Option<Box<u64>> },
    Pair(u8, i16),
}

#[derive(Transportable)]
struct Order {
    id: u64,
    symbol: String,
    sides: Vec<Side>,
    parent: Option<Box<Order>>,
    small: Option<u16>,
    tight: Option<bool>,
    twice: Option<Option<u8>>,
    outcome: Result<u8, String>,
    name: (char, [i8; 2]),
}

fn order() -> Order {
    let leaf = |id| Order {
        id,
        symbol: "ÄCME".repeat(3),
        sides: vec![
            Side::Buy,
            Side::Limit {
                at: -0.5,
                until: Some(Box::new(u64::MAX)),
            },
            Side::Pair(7, -300),
        ],
        parent: None,
        small: Some(9),
        tight: Some(false),
        twice: Some(None),
        outcome: Err("late".into()),
        name: ('é', [-1, 127]),
    };
    Order {
        parent: Some(Box::new(leaf(3))),
        outcome: Ok(5),
        twice: None,
        small: None,
        ..leaf(2)
    }
}

fn written<T: Transportable>(of: &T) -> Vec<u8> {
    let bytes = Writer::new().gather(of, |segments| {
        let all = segments.iter().flat_map(|segment| segment.iter().copied());
        all.collect::<Vec<u8>>()
    });
    bytes.unwrap()
}

fn leaf_json(id: u64) -> Json {
    json!({
        "id": id, "symbol": "ÄCMEÄCMEÄCME",
        "sides": ["Buy", {"Limit": {"at": -0.5, "until": "18446744073709551615"}}, {"Pair": [7, -300]}],
        "parent": null, "small": 9, "tight": false, "twice": {"Some": null},
        "outcome": {"Err": "late"}, "name": ["é", [-1, 127]],
    })
}

fn order_json() -> Json {
    let mut order = leaf_json(2);
    order["parent"] = leaf_json(3);
    order["outcome"] = json!({"Ok": 5});
    order["twice"] = Json::Null;
    order["small"] = Json::Null;
    order
}

#[test]
fn values_are_written_as_they_are_shown() {
    let (schema, root) = Schema::of::<Order>();
    let composed = compose(&schema, root, &order_json()).unwrap();
    assert_eq!(composed, written(&order()));
    let mut catalog = Catalog::default();
    catalog.add_type::<Order>().unwrap();
    let found = message(&composed, &catalog, &whole());
    assert_eq!(value::value(&found), order_json());

    let (schema, root) = Schema::of::<(Vec<f32>, String)>();
    let numbers: Vec<f32> = (0..1000u16).map(|n| f32::from(n) / 3.0).collect();
    let composed = compose(&schema, root, &json!([numbers, "x"])).unwrap();
    assert_eq!(composed, written(&(numbers, "x".to_owned())));
    let (schema, root) = Schema::of::<()>();
    assert_eq!(compose(&schema, root, &Json::Null).unwrap(), written(&()));
}

#[test]
fn maps_and_sets_are_entries() {
    type All = (BTreeMap<String, u8>, BTreeMap<u32, String>, BTreeSet<u8>);
    let all: All = (
        BTreeMap::from([("keys".to_owned(), 1), ("values".to_owned(), 2)]),
        BTreeMap::from([(3, "three".to_owned()), (20, "twenty".to_owned())]),
        BTreeSet::from([1, 7]),
    );
    let shown = json!([
        { "keys": 1, "values": 2 },
        [[3, "three"], [20, "twenty"]],
        [1, 7],
    ]);
    let (schema, root) = Schema::of::<All>();
    let composed = compose(&schema, root, &shown).unwrap();
    assert_eq!(composed, written(&all));
    let mut catalog = Catalog::default();
    catalog.add_type::<All>().unwrap();
    assert_eq!(value::value(&message(&composed, &catalog, &whole())), shown);
    let empty = json!([{}, [], []]);
    let composed = compose(&schema, root, &empty).unwrap();
    let found = message(&composed, &catalog, &whole());
    assert!(found.fault.is_none());
    assert_eq!(value::value(&found), empty);
    let error = compose(&schema, root, &json!([7, [], []])).unwrap_err();
    assert_eq!(error.path, ".0");
    assert!(error.details.contains("expected"), "{error}");
}

/// Composes the order with `change` and returns the error.
fn complaint(change: impl FnOnce(&mut Json)) -> String {
    let (schema, root) = Schema::of::<Order>();
    let mut value = order_json();
    change(&mut value);
    compose(&schema, root, &value).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    let said = complaint(|order| order["id"] = json!(-1));
    assert!(
        said.starts_with(".id: expected an integer from 0 to 18446744073709551615"),
        "{said}"
    );
    let said = complaint(|order| order["parent"]["sides"][2]["Pair"][1] = json!(40_000));
    assert_eq!(
        said,
        ".parent.sides[2].1: expected an integer from -32768 to 32767, found 40000"
    );
    let said = complaint(|order| order["sides"][0] = json!("Sell"));
    assert_eq!(
        said,
        ".sides[0]: expected one of \"Buy\", \"Limit\", \"Pair\", found \"Sell\""
    );
    let said = complaint(|order| order["idd"] = json!(1));
    assert!(
        said.starts_with("there is no field \"idd\", but the fields id, "),
        "{said}"
    );
    let said = complaint(|order| drop(order.as_object_mut().unwrap().remove("small")));
    assert_eq!(said, "the field \"small\" is missing");
    for (field, details) in [
        ("symbol", "a string"),
        ("sides", "a list"),
        ("tight", "true or false"),
    ] {
        let said = complaint(|order| order[field] = json!(17));
        assert_eq!(said, format!(".{field}: expected {details}, found 17"));
    }
    let said = complaint(|order| order["name"] = json!(["é", [1]]));
    assert_eq!(said, ".name.1: expected a list of 2, found [1]");
    let said = complaint(|order| order["id"] = json!("x".repeat(1000)));
    assert!(said.len() < 200, "{said}");
}
