//! Messages as JSON for programs.
//!
//! The format is stable: names and meanings do not change, but fields may be added. Places are byte
//! offsets from the start of the message, as pairs `[start, end]`. Descriptors, classes and the
//! words of marks are strings such as `"0x1f"`. Integers are numbers if they fit in 53 bits, and
//! strings otherwise. Floating-point numbers that JSON lacks are `"NaN"`, `"inf"` and `"-inf"`.
//!
//! | object | fields |
//! |---|---|
//! | message | `at`, `len`; `header`; `type`; `nodes`; `hidden`, the number of values that were left out; `fault` or null |
//! | header | `bulk_align`, `descriptor`, `objects`, `bulk`, `text` (pairs) |
//! | node | `id`, its index in `nodes`; `parent` or null; `name`: a field's name, an element's number, or null; `path`; `type`; `at`; `kind`; `marks`; `children` (ids); `hidden`, the number of children left out; and depending on its kind: |
//! | `leaf` | `value` |
//! | `struct` | |
//! | `variant` | `variant`, `discriminant` |
//! | `none`, `some`, `ok`, `err`, `around` | the payload is the only child |
//! | `array` | `count` |
//! | `text` | `value`, truncated to the limit; `text_at`; `number` or null |
//! | `pointer` | `to`, `count`, `many` (a slice), `number` of a shared target or null |
//! | `again` | `number`, and `first`: the id of the first pointer to the target, or null |
//! | `unknown` | the value is not known because of a fault |
//! | mark | `at`, `meaning`: `offset`, `length`, `number`, `class`, `tag`, `value`; `word`, the bytes as a number |
//! | fault | `code`, `details`, `at`, `path` |
//! | schema | `descriptor`, `types`: the root first |
//! | type | `name`, `size`, `align`, `kind`; `fields` of a struct; `tag` and `variants` of an enum; `renamed_from`, the older names, if the type has rules for other versions |
//! | field | `name`, `offset`, `type`, and `rules`, if it has any |
//! | variant | `name`, `discriminant`, `fields`, and `rules`, if it has any |
//! | rules of a field | `renamed_from`; `default`, the length of the message or null; `narrow`, `must_understand` |
//! | rules of a variant | `renamed_from`, `other` |
//!
//! The program wraps these objects in a document about its input: `version`, `input`, `len`,
//! `objects` (their number), `schemas`, `messages` (those of streams and files have `object`, their
//! number), `faults` of the whole input, `fine`; and `file`, for a file of objects, otherwise null:
//!
//! | object | fields |
//! |---|---|
//! | `file` | `version`; `commit`, the current one, and its `slot`, 0 or 1; `slots`; `chunks` of the index, the newest first |
//! | slot | `at`; `blank`, true if it has only zeroes; `commit` or null |
//! | commit | `generation`; `end`; `objects` (their number); `index`, `schemas`: places or null |
//! | chunk | `at`; `first`, the number of its first object; `objects` (their number) |

use serde_json::{Map, Value as Json, json};
use std::ops::Range;

use super::tree::{Message, Name, Node, Value};
use super::{Catalog, Fault, Leaf, Meaning};
use crate::schema::{DefaultValue, FieldInfo, FieldRules, Kind, VariantRules};

/// Version of the JSON format.
pub const VERSION: u32 = 1;

/// Returns the JSON of a message that begins at offset `at` of a stream or file.
#[must_use]
pub fn message(of: &Message, bytes: &[u8], at: usize) -> Json {
    let header = of.header.map(|header| {
        json!({
            "bulk_align": header.bulk_align,
            "descriptor": word(header.descriptor),
            "objects": [crate::wire::HEADER_LEN, header.objects_end],
            "bulk": [header.bulk_start, header.text_start],
            "text": [header.text_start, header.message_len()],
        })
    });
    let nodes = of.nodes.iter().map(|node| self::node(of, node, bytes));
    json!({
        "at": at,
        "len": bytes.len(),
        "header": header,
        "type": of.type_name.as_deref(),
        "nodes": nodes.collect::<Vec<_>>(),
        "hidden": of.hidden,
        "fault": of.fault.as_ref().map(fault),
    })
}

/// Returns the JSON of a fault.
#[must_use]
pub fn fault(of: &Fault) -> Json {
    json!({
        "code": of.code.name(),
        "what": of.details,
        "at": pair(&of.at),
        "path": of.path,
    })
}

fn word(n: u64) -> String {
    format!("{n:#x}")
}

fn pair(of: &Range<usize>) -> [usize; 2] {
    [of.start, of.end]
}

/// Largest integer that all JSON readers represent exactly.
const EXACT: u128 = 1 << 53;

fn unsigned(n: u128) -> Json {
    match u64::try_from(n) {
        Ok(small) if n <= EXACT => Json::from(small),
        _ => Json::from(n.to_string()),
    }
}

fn signed(n: i128) -> Json {
    match i64::try_from(n) {
        Ok(small) if n.unsigned_abs() <= EXACT => Json::from(small),
        _ => Json::from(n.to_string()),
    }
}

pub(super) fn leaf(of: &Leaf) -> Json {
    let float = |n: f64, text: String| {
        serde_json::Number::from_f64(n).map_or(Json::from(text), Json::Number)
    };
    match of {
        Leaf::Unit => Json::Null,
        Leaf::Unsigned(n) => unsigned(*n),
        Leaf::Signed(n) => signed(*n),
        // As many digits as are needed to identify the `f32`.
        Leaf::F32(n) => float(n.to_string().parse().unwrap_or(f64::NAN), n.to_string()),
        Leaf::F64(n) => float(*n, n.to_string()),
        Leaf::Bool(b) => Json::from(*b),
        Leaf::Char(c) => Json::from(c.to_string()),
        Leaf::Other(text) => Json::from(text.as_str()),
        Leaf::Bytes(bytes) => Json::from(super::hex::digits(bytes)),
    }
}

const fn meaning(of: Meaning) -> &'static str {
    match of {
        Meaning::Header => "header",
        Meaning::Offset => "offset",
        Meaning::Length => "length",
        Meaning::Number => "number",
        Meaning::Class => "class",
        Meaning::Tag => "tag",
        Meaning::Value => "value",
        Meaning::Unknown => "unknown",
    }
}

fn node(message: &Message, of: &Node, bytes: &[u8]) -> Json {
    let marks = of.marks.iter().map(|mark| {
        let mut word = [0; 16];
        let bytes = bytes.get(mark.at.clone()).unwrap_or_default();
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        json!({
            "at": pair(&mark.at),
            "meaning": meaning(mark.meaning),
            "word": format!("{:#x}", u128::from_le_bytes(word)),
        })
    });
    let mut map = Map::new();
    let mut put = |name: &str, value: Json| {
        map.insert(name.to_owned(), value);
    };
    put("id", Json::from(of.id));
    put("parent", Json::from(of.parent));
    put(
        "name",
        match &of.name {
            Name::Field(name) => Json::from(name.as_str()),
            Name::Index(index) => Json::from(*index),
            Name::Root | Name::Payload | Name::Target => Json::Null,
        },
    );
    put("path", Json::from(message.path(of.id)));
    put("type", Json::from(&*of.type_name));
    put("at", json!(pair(&of.at)));
    put("marks", Json::from(marks.collect::<Vec<_>>()));
    put("children", Json::from(of.children.as_slice()));
    put("hidden", Json::from(of.hidden));
    let kind = match &of.value {
        None => "unknown",
        Some(Value::Leaf(value)) => {
            put("value", leaf(value));
            "leaf"
        }
        Some(Value::Struct) => "struct",
        Some(Value::Variant { name, discriminant }) => {
            put("variant", Json::from(name.as_str()));
            put("discriminant", signed(*discriminant));
            "variant"
        }
        Some(Value::None) => "none",
        Some(Value::Some) => "some",
        Some(Value::Ok) => "ok",
        Some(Value::Err) => "err",
        Some(Value::Around) => "around",
        Some(Value::Array(count)) => {
            put("count", Json::from(*count));
            "array"
        }
        Some(Value::Text { at, text, number }) => {
            put("value", Json::from(text.as_str()));
            put("text_at", json!(pair(at)));
            put("number", Json::from(*number));
            "text"
        }
        Some(Value::Pointer {
            to,
            count,
            many,
            number,
        }) => {
            put("to", Json::from(*to));
            put("count", Json::from(*count));
            put("many", Json::from(*many));
            put("number", Json::from(*number));
            "pointer"
        }
        Some(Value::Again { number, first }) => {
            put("number", Json::from(*number));
            put("first", Json::from(*first));
            "again"
        }
    };
    put("kind", Json::from(kind));
    Json::Object(map)
}

/// Returns the rules of a part. Those of a decoded schema are in ascending order.
fn numbered<R>(rules: &[(usize, R)], number: usize) -> Option<&R> {
    let place = rules.binary_search_by_key(&number, |(of, _)| *of).ok()?;
    rules.get(place).map(|(_, rules)| rules)
}

/// Returns the JSON of a field's rules.
fn field_rules(of: &FieldRules) -> Json {
    let default = match &of.default {
        Some(DefaultValue::Message(message)) => Json::from(message.len()),
        _ => Json::Null,
    };
    json!({
        "renamed_from": of.names,
        "default": default,
        "narrow": of.narrow,
        "must_understand": of.must_understand,
    })
}

/// Returns the JSON of a variant's rules.
fn variant_rules(of: &VariantRules) -> Json {
    json!({ "renamed_from": of.names, "other": of.other })
}

/// Adds the rules of a field or variant to its JSON.
fn with_rules(mut json: Json, rules: Option<Json>) -> Json {
    if let (Json::Object(map), Some(rules)) = (&mut json, rules) {
        map.insert("rules".to_owned(), rules);
    }
    json
}

/// Returns the JSON of all schemas of a catalog.
#[must_use]
pub fn schemas(of: &Catalog) -> Json {
    let all = of.descriptors().filter_map(|descriptor| {
        let plan = of.plan(descriptor)?;
        let types = plan.schema().all().filter_map(|(index, info)| {
            let info = info?;
            let mut map = Map::new();
            let mut put = |name: &str, value: Json| {
                map.insert(name.to_owned(), value);
            };
            let rules = plan.schema().rules(index);
            let fields = |fields: &[FieldInfo], rules: &[(usize, FieldRules)]| {
                let fields = fields.iter().enumerate().map(|(number, field)| {
                    let json = json!({
                        "name": field.name,
                        "offset": field.offset,
                        "type": &*plan.spelling(field.of),
                    });
                    with_rules(json, numbered(rules, number).map(field_rules))
                });
                Json::from(fields.collect::<Vec<_>>())
            };
            put("name", Json::from(&*plan.spelling(index)));
            put("size", Json::from(info.size));
            put("align", Json::from(info.align));
            put("kind", Json::from(info.kind.noun()));
            match &info.kind {
                Kind::Struct(all) => {
                    let rules = rules.map_or(&[][..], |rules| &rules.fields);
                    put("fields", fields(all, rules));
                }
                Kind::Enum { tag, variants } => {
                    put("tag", Json::from(*tag));
                    let of_all = rules.map_or(&[][..], |rules| &rules.variants);
                    let variants = variants.iter().enumerate().map(|(number, of)| {
                        let rules = numbered(of_all, number);
                        let of_fields = rules.map_or(&[][..], |rules| &rules.fields);
                        let json = json!({
                            "name": of.name,
                            "discriminant": signed(of.discriminant),
                            "fields": fields(&of.fields, of_fields),
                        });
                        with_rules(json, rules.map(variant_rules))
                    });
                    put("variants", Json::from(variants.collect::<Vec<_>>()));
                }
                _ => {}
            }
            if let Some(rules) = rules {
                put("renamed_from", json!(rules.names));
            }
            Some(Json::Object(map))
        });
        Some(json!({
            "descriptor": word(descriptor),
            "types": types.collect::<Vec<_>>(),
        }))
    });
    Json::from(all.collect::<Vec<_>>())
}
