//! Compact JSON for people; [`compose`](super::compose()) makes messages from it.
//!
//! | value | JSON |
//! |---|---|
//! | integer | a number, or a string if it does not fit in 53 bits |
//! | floating-point number | a number, or `"NaN"`, `"inf"`, `"-inf"` |
//! | `bool`, text | the same; a character is a string |
//! | `()` | `null` |
//! | struct | an object, or a list if the fields have no names |
//! | tuple, array, slice | a list |
//! | variant | `"Name"`, or `{"Name": fields}` if it has fields, as for a struct |
//! | option | `null`, or the value; `{"Some": value}` where the value alone would be ambiguous |
//! | result | `{"Ok": value}`, `{"Err": value}` |
//! | reference, box, shared pointer | the target |
//! | map | an object if the keys are text, otherwise a list of pairs `[key, value]` |
//! | set | a list |
//! | time, address | a string |

use serde_json::{Map, Value as Json};

use super::entries::Entries;
use super::json::leaf;
use super::tree::{Message, Name, Node, Value};

/// Returns the value of a message's root, as far as it was kept, or `null` if there is none.
#[must_use]
pub fn value(of: &Message) -> Json {
    of.nodes.first().map_or(Json::Null, |root| node(of, root))
}

fn node(message: &Message, of: &Node) -> Json {
    let only = || {
        let child = message.child(of);
        child.map_or(Json::Null, |child| node(message, child))
    };
    let named = |name: &str, value: Json| Json::Object(Map::from_iter([(name.to_owned(), value)]));
    match &of.value {
        None | Some(Value::None) => Json::Null,
        Some(Value::Leaf(value)) => leaf(value),
        Some(Value::Struct) => match Entries::new(message, of) {
            Some(entries) => entries.json(message, node),
            None => fields(message, of).unwrap_or_else(|| Json::Object(Map::new())),
        },
        Some(Value::Variant { name, .. }) => match fields(message, of) {
            Some(fields) => named(name, fields),
            None => Json::from(name.as_str()),
        },
        Some(Value::Some) => {
            let value = only();
            if value.is_null() || is_some(&value).is_some() {
                named("Some", value)
            } else {
                value
            }
        }
        Some(Value::Ok) => named("Ok", only()),
        Some(Value::Err) => named("Err", only()),
        Some(Value::Array(_) | Value::Pointer { many: true, .. }) => elements(message, of),
        Some(Value::Around | Value::Pointer { many: false, .. }) => only(),
        Some(Value::Text { text, .. }) => Json::from(text.as_str()),
        Some(Value::Again { number, .. }) => named("shared", Json::from(*number)),
    }
}

/// Returns the value in `{"Some": value}`.
pub(super) fn is_some(of: &Json) -> Option<&Json> {
    let object = of.as_object().filter(|object| object.len() == 1)?;
    object.get("Some")
}

/// Returns true if the fields have numbers instead of names.
pub(super) fn are_numbered<'n>(names: impl IntoIterator<Item = &'n str>) -> bool {
    let mut names = names.into_iter().enumerate();
    names.all(|(number, name)| name.parse() == Ok(number))
}

fn fields(message: &Message, of: &Node) -> Option<Json> {
    if of.children.is_empty() {
        return None;
    }
    let name = |node: &Node| match &node.name {
        Name::Field(name) => name.clone(),
        _ => String::new(),
    };
    let names: Vec<_> = message.children(of).map(name).collect();
    if are_numbered(names.iter().map(String::as_str)) {
        return Some(elements(message, of));
    }
    let values = message.children(of).map(|child| node(message, child));
    Some(Json::Object(names.into_iter().zip(values).collect()))
}

fn elements(message: &Message, of: &Node) -> Json {
    message
        .children(of)
        .map(|child| node(message, child))
        .collect()
}
