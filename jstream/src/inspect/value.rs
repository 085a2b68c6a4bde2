//! Values as JSON for people, and for who writes them: [`compose`](super::compose()) makes messages of it.
//!
//! | value | JSON |
//! |---|---|
//! | integer | a number, or a string where it has more than 53 bits |
//! | floating number | a number, or `"NaN"`, `"inf"`, `"-inf"` |
//! | `bool`, text | the same; a character is a string |
//! | `()` | `null` |
//! | struct | an object; a list, where the fields have no names |
//! | tuple, array, slice | a list |
//! | variant | `"Name"`, or `{"Name": fields}` where it has some, as for a struct |
//! | option | `null`, or the value; `{"Some": value}` where that could be taken for another |
//! | result | `{"Ok": value}`, `{"Err": value}` |
//! | reference, box, shared pointer | what it leads to |
//! | map, set | its columns, as `FORMAT.md` tells |
//! | time, address | a string |

use serde_json::{Map, Value as Json};

use super::json::leaf;
use super::tree::{Message, Name, Node, Value};

/// The value of a message's root, as far as it was kept; `null` where nothing was found.
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
        Some(Value::Struct) => fields(message, of).unwrap_or_else(|| Json::Object(Map::new())),
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

/// What stands in `{"Some": value}`.
pub(super) fn is_some(of: &Json) -> Option<&Json> {
    let object = of.as_object().filter(|object| object.len() == 1)?;
    object.get("Some")
}

/// Whether fields have numbers in place of names.
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
