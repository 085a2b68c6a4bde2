//! The values that an inspection finds are those that were written.

use jstream::inspect::{Message, Options, Value, json, message};
use serde_json::{Value as Json, json};

use crate::inspect::samples::{self, Sample};

/// Returns the innermost value at a path, as JSON.
fn at(found: &Message, sample: &Sample, path: &str) -> Json {
    let node = found.nodes.iter().rfind(|node| found.path(node.id) == path);
    let id = node
        .unwrap_or_else(|| panic!("{}: no {path}", sample.name))
        .id;
    let all = json::message(found, &sample.bytes, 0);
    let node = &all["nodes"][id];
    match node["kind"].as_str().unwrap() {
        "leaf" | "text" => node["value"].clone(),
        "variant" => node["variant"].clone(),
        kind => json!(format!("<{kind}>")),
    }
}

#[track_caller]
fn assert_values<const N: usize>(sample: &Sample, values: [(&str, Json); N]) {
    let found = sample.look();
    assert_eq!(found.fault, None, "{}", sample.name);
    for (path, value) in values {
        assert_eq!(at(&found, sample, path), value, "{}: {path}", sample.name);
    }
}

#[test]
fn structs_text_slices_and_references() {
    assert_values(
        &samples::order(),
        [
            ("Order.id", json!(7)),
            ("Order.symbol", json!("ACME")),
            ("Order.legs[0].price", json!(99.5)),
            ("Order.legs[1].side", json!("Sell")),
            ("Order.legs[2].price", json!("inf")),
            ("Order.legs[2].quantity", json!(u32::MAX)),
            ("Order.parent.id", json!(u64::MAX.to_string())),
            ("Order.parent.symbol", json!("größer → \"\n\"")),
            ("Order.parent.legs", json!("<pointer>")),
            ("Order.parent.parent", json!("<none>")),
        ],
    );
}

#[test]
fn plain_values() {
    assert_values(
        &samples::plain(),
        [
            ("Plain.unsigned.0", json!(1)),
            ("Plain.unsigned.3", json!(4)),
            ("Plain.unsigned.4", json!(u128::MAX.to_string())),
            ("Plain.unsigned.5", json!(6)),
            ("Plain.signed.0", json!(-1)),
            ("Plain.signed.1", json!(-2)),
            ("Plain.signed.3", json!(i64::MIN.to_string())),
            ("Plain.signed.4", json!(i128::MIN.to_string())),
            ("Plain.signed.5", json!(-6)),
            ("Plain.float.0", json!(0.1)),
            ("Plain.float.1", json!("NaN")),
            ("Plain.float.2", json!(true)),
            ("Plain.float.3", json!("ß")),
            ("Plain.nonzero.0", json!(1)),
            ("Plain.nonzero.1", json!(-32768)),
            ("Plain.nonzero.2", json!(9)),
            ("Plain.wrapping.0", json!(-4)),
            ("Plain.order", json!("Less")),
            ("Plain.unit", json!(null)),
            ("Plain.array[1][0]", json!(3)),
            ("Plain.range.start", json!(3)),
            ("Plain.range.end", json!(4)),
            ("Plain.closed.start", json!("a")),
            ("Plain.closed.end", json!("z")),
            ("Plain.bound.0", json!("Included")),
            ("Plain.bound.0.0", json!(5)),
            ("Plain.bound.1", json!("Unbounded")),
            ("Plain.bound.2.0", json!("x")),
        ],
    );
}

#[test]
fn times_and_addresses() {
    let sample = samples::opaque();
    let name = sample.look().type_name.unwrap();
    let found = sample.look();
    let value = |path: &str| at(&found, &sample, &format!("{name}{path}"));
    assert_eq!(value(".0"), "3.500000000 s");
    assert_eq!(value(".1[0]"), "3.500000000 s since 1970");
    assert_eq!(value(".1[1]"), "-3.500000000 s since 1970");
    assert_eq!(value(".2"), "10.0.0.1");
    assert_eq!(value(".3"), "::1");
    assert_eq!(value(".4[0]"), "127.0.0.1");
    assert_eq!(value(".4[1]"), "::1");
    assert_eq!(value(".5"), "127.0.0.1:80");
    assert_eq!(value(".6"), "[::1%2]:81");
    assert_eq!(value(".7[0]"), "127.0.0.1:82");
    assert_eq!(value(".7[1]"), "[::1]:83");
}

#[test]
fn options_and_results() {
    let sample = samples::options();
    let found = sample.look();
    assert_eq!(found.fault, None);
    let name = found.type_name.clone().unwrap();
    let value = |path: &str| at(&found, &sample, &format!("{name}{path}"));
    assert_eq!(value(".0"), true);
    assert_eq!(value(".1"), "<none>");
    assert_eq!(value(".2"), "<none>");
    assert_eq!(value(".3[0]"), "täxt");
    assert_eq!(value(".3[1]"), "<none>");
    assert_eq!(value(".3[2]"), "");
    assert_eq!(value(".4"), "why");
    assert_eq!(value(".5"), Json::Null);
    assert_eq!(value(".6.0"), 1);
    assert_eq!(value(".6.1"), "deep");
    assert_eq!(value(".7[0]"), "Sell");
    assert_eq!(value(".7[1]"), "<none>");
}

#[test]
fn maps_are_columns() {
    let sample = samples::maps();
    let found = sample.look();
    assert_eq!(found.fault, None);
    let texts: Vec<_> = found
        .nodes
        .iter()
        .filter_map(|node| match &node.value {
            Some(Value::Text { text, .. }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["one", "two"]);
    let bools = found.nodes.iter().filter(|node| &*node.type_name == "bool");
    assert_eq!(bools.count(), 2);
}

#[test]
fn enums_and_trees() {
    assert_values(
        &samples::tree(),
        [
            ("TreeRef.name", json!("root")),
            ("TreeRef.shape", json!("Inside")),
            ("TreeRef.shape.0.name", json!("leaf")),
            ("TreeRef.children[0].shape", json!("Circle")),
            ("TreeRef.children[0].shape.radius", json!(1.5)),
            ("TreeRef.children[1].shape.0[1].1", json!(4)),
            ("TreeRef.children[1].shape.1", json!("two")),
            ("TreeRef.children[1].children[0].name", json!("leaf")),
        ],
    );
}

#[test]
fn shared_objects_have_numbers() {
    let sample = samples::shared();
    let found = sample.look();
    assert_eq!(found.fault, None);
    let again: Vec<_> = found
        .nodes
        .iter()
        .filter_map(|node| match node.value {
            Some(Value::Again { number, first }) => Some((number, first.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(again.len(), 3);
    for (number, first) in again {
        let first = &found.nodes[first].value;
        let Some(Value::Pointer { number: known, .. } | Value::Text { number: known, .. }) = first
        else {
            panic!("{first:?}");
        };
        assert_eq!(*known, Some(number));
    }
    let ring = samples::ring().look();
    assert_eq!(ring.fault, None);
    let back = ring.nodes.iter().find_map(|node| match node.value {
        Some(Value::Again { number, first }) => Some((number, first)),
        _ => None,
    });
    assert_eq!(back, Some((0, Some(0))));
}

#[test]
fn trait_objects_are_of_their_classes() {
    let sample = samples::dynamic();
    let found = sample.look();
    assert_eq!(found.fault, None);
    let names: Vec<_> = found.nodes.iter().map(|node| &*node.type_name).collect();
    assert_eq!(names.iter().filter(|name| **name == "Square").count(), 2);
    assert_eq!(names.iter().filter(|name| **name == "GroupRef").count(), 1);
    let chars: Vec<_> = found
        .nodes
        .iter()
        .filter(|node| &*node.type_name == "char")
        .map(|node| at(&found, &sample, &found.path(node.id)))
        .collect();
    assert_eq!(chars, ["y", "x"]);
}

#[test]
fn parts_lie_within_their_wholes_and_all_bytes_of_objects_mean_something() {
    for sample in samples::all() {
        let found = sample.look();
        assert_eq!(found.fault, None, "{}", sample.name);
        for node in &found.nodes {
            assert!(node.at.end <= sample.bytes.len());
            for child in &node.children {
                let child = &found.nodes[*child];
                assert_eq!(child.parent, Some(node.id));
                let is_inside = node.at.start <= child.at.start && child.at.end <= node.at.end;
                let is_pointed_to = matches!(node.value, Some(Value::Pointer { .. }));
                assert!(is_inside || is_pointed_to, "{}: {child:?}", sample.name);
            }
        }
    }
}

#[test]
fn what_is_not_kept_is_counted_and_checked() {
    let sample = Sample::of::<Vec<String>>("many", &vec!["x".to_owned(); 100]);
    let mut options = Options::default();
    options.elements = 3;
    let found = message(&sample.bytes, &sample.catalog, &options);
    assert_eq!(
        (found.nodes.len(), found.nodes[0].hidden, found.hidden),
        (4, 97, 97)
    );
    options.depth = 0;
    let found = message(&sample.bytes, &sample.catalog, &options);
    assert_eq!((found.nodes.len(), found.nodes[0].hidden), (1, 100));
    options.values = 2;
    options.depth = 9;
    let found = message(&sample.bytes, &sample.catalog, &options);
    assert_eq!(found.nodes.len(), 2);

    // The last string is one byte longer than the text.
    let mut bytes = sample.bytes.clone();
    let len = 40 + 16 + 99 * 16 + 8;
    assert_eq!(bytes[len], 1);
    bytes[len] = 2;
    let fault = message(&bytes, &sample.catalog, &options).fault.unwrap();
    assert_eq!(
        (fault.path.as_str(), fault.at.start),
        ("&[&str][99]", len - 8)
    );
}

#[test]
fn long_lists_have_short_paths() {
    let mut list = None;
    for n in 0..5000u32 {
        list = Some(Box::new(samples::List { n, next: list }));
    }
    let sample = Sample::of::<Option<Box<samples::List>>>("list", &list);
    let mut bytes = sample.bytes.clone();
    let last = bytes.len() - 8;
    bytes[last] = 1;
    let found = sample.look_at(&bytes);
    let fault = found.fault.unwrap();
    assert_eq!(fault.at.start, last);
    assert!(
        fault.path.contains("…(4989 more)….next.next"),
        "{}",
        fault.path
    );
    assert!(found.hidden > 4000 && found.nodes.len() < 300);
}
