//! Maps and sets by their entries, instead of the columns in which messages have them.

use serde_json::{Map, Value as Json, json};

use super::tree::{Message, Name, Node, Value};
use crate::schema::{Kind, Schema, TypeIndex, TypeInfo};

/// The entries of a map or set that was found in a message.
pub(super) struct Entries<'m> {
    /// The pointer to the keys, or to the elements of a set.
    keys: &'m Node,
    /// The pointer to the values of a map.
    values: Option<&'m Node>,
}

impl<'m> Entries<'m> {
    /// Returns the entries if the node is a map or a set.
    pub(super) fn new(message: &'m Message, node: &'m Node) -> Option<Self> {
        let is_struct = matches!(node.value, Some(Value::Struct));
        if !is_struct || !is_map_or_set(&node.type_name) {
            return None;
        }
        let pointer = |node: &'m Node, name: &str| {
            let found = field(message, node, name)?;
            matches!(found.value, Some(Value::Pointer { many: true, .. })).then_some(found)
        };
        if let Some(keys) = pointer(node, "elements") {
            return Some(Self { keys, values: None });
        }
        let keys = pointer(field(message, node, "keys")?, "elements")?;
        let values = Some(pointer(node, "values")?);
        Some(Self { keys, values })
    }

    /// Returns the number of entries, including those that were left out.
    pub(super) fn count(&self) -> usize {
        match self.keys.value {
            Some(Value::Pointer { count, .. }) => count,
            _ => 0,
        }
    }

    /// Returns the number of entries that were not left out.
    pub(super) fn shown(&self, message: &'m Message) -> usize {
        match self.is_map() {
            true => self.pairs(message).count(),
            false => self.elements(message).count(),
        }
    }

    pub(super) fn is_map(&self) -> bool {
        self.values.is_some()
    }

    /// Returns the elements of a set.
    pub(super) fn elements(&self, message: &'m Message) -> impl Iterator<Item = &'m Node> {
        let none = self.is_map();
        message.children(self.keys).filter(move |_| !none)
    }

    /// Returns the keys and values of a map.
    pub(super) fn pairs(&self, message: &'m Message) -> impl Iterator<Item = (&'m Node, &'m Node)> {
        let values = self.values.into_iter();
        let values = values.flat_map(|values| message.children(values));
        message.children(self.keys).zip(values)
    }

    /// Returns the entries as JSON: an object if all keys are different texts, otherwise a list of
    /// pairs; or the list of the elements of a set.
    pub(super) fn json(
        &self,
        message: &'m Message,
        value: impl Fn(&Message, &Node) -> Json,
    ) -> Json {
        if !self.is_map() {
            let elements = self.elements(message);
            return elements.map(|element| value(message, element)).collect();
        }
        let pairs = self.pairs(message);
        let pairs: Vec<_> = pairs
            .map(|(key, of)| (value(message, key), value(message, of)))
            .collect();
        let named = pairs
            .iter()
            .map(|(key, of)| Some((key.as_str()?.to_owned(), of.clone())));
        let named: Option<Map<_, _>> = named.collect();
        match named.filter(|named| named.len() == pairs.len() && is_text(self.keys)) {
            Some(named) => Json::Object(named),
            None => pairs
                .into_iter()
                .map(|(key, of)| json!([key, of]))
                .collect(),
        }
    }
}

/// Returns true if the elements of a pointer are texts. Characters and unit variants are shown as
/// strings, too.
fn is_text(pointer: &Node) -> bool {
    let name = &*pointer.type_name;
    name.ends_with("[&str]") || name.ends_with("[String]")
}

/// Returns true if this is the name of the in-place form of a map or a set.
fn is_map_or_set(name: &str) -> bool {
    ["Sorted", "Hashed", "Indexed"].iter().any(|kind| {
        let rest = name.strip_prefix(kind);
        rest.is_some_and(|rest| rest.starts_with("Map") || rest.starts_with("Set"))
    })
}

fn field<'m>(message: &'m Message, node: &'m Node, name: &str) -> Option<&'m Node> {
    let is_it = |node: &&Node| matches!(&node.name, Name::Field(field) if field == name);
    message.children(node).find(is_it)
}

/// Converts the entries of a sorted map or set to the columns in which a message has them.
pub(super) fn columns(schema: &Schema, of: TypeIndex, value: Json) -> Json {
    let is_sorted = |info: &&TypeInfo| {
        info.name.starts_with("Sorted")
            && is_map_or_set(&info.name)
            && matches!(info.kind, Kind::Struct(_))
    };
    let Some(info) = schema.get(of).filter(is_sorted) else {
        return value;
    };
    match (info.name.starts_with("SortedSet"), value) {
        (true, Json::Array(elements)) => json!({ "elements": elements }),
        (false, Json::Object(named)) => {
            let (keys, values): (Vec<_>, Vec<_>) = named.into_iter().unzip();
            json!({ "keys": keys, "values": values })
        }
        (false, Json::Array(pairs)) if pairs.iter().all(is_pair) => {
            let pairs = pairs.into_iter().filter_map(|pair| match pair {
                Json::Array(pair) => {
                    let mut pair = pair.into_iter();
                    Some((pair.next()?, pair.next()?))
                }
                _ => None,
            });
            let (keys, values): (Vec<_>, Vec<_>) = pairs.unzip();
            json!({ "keys": keys, "values": values })
        }
        (_, value) => value,
    }
}

fn is_pair(value: &Json) -> bool {
    value.as_array().is_some_and(|pair| pair.len() == 2)
}
