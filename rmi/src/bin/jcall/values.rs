//! Arguments and results as JSON: references to objects, names of parameters, and examples.

use std::cell::Cell;

use jstream::inspect::{compose, rewrite};
use jstream::schema::{FieldInfo, Kind, Schema, TypeIndex};
use jstream_rmi::{Client, Described, SignatureRef};
use serde_json::{Map, Value as Json, json};

use crate::failure::Failure;

/// Maximum depth of an example; deeper values are `null`.
const DEPTH: usize = 6;

/// Maximum number of values in an example, because the schema is the peer's and may describe
/// values without end.
const MOST_PARTS: usize = 100;

/// The message of the arguments, with the objects that it refers to. These must be kept until the
/// call has ended.
pub(crate) struct ComposedCall {
    pub(crate) message: Vec<u8>,
    pub(crate) _objects: Vec<Described>,
}

/// Composes the message of the arguments. A reference is given as the name of an object that is
/// bound at the server.
pub(crate) fn compose_call(
    client: &Client,
    of: &SignatureRef<'_>,
    arguments: &[String],
) -> Result<ComposedCall, Failure> {
    let (schema, root) = Schema::from_snapshot(of.arguments)?;
    let parameters = Parameters::from_signature(of, &schema, root);
    parameters.check_count(arguments.len())?;
    let values = arguments
        .iter()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str())));
    let mut objects = Vec::new();
    let mut named = |value: Json| match value.as_str() {
        Some(name) => {
            let object = client.describe(name).wait()?;
            let number = object.number();
            objects.push(object);
            Ok(json!({ "Yours": { "number": number, "kept": 0 } }))
        }
        None => Err(Failure::Usage(format!(
            "{}: expected the name of a bound object for a reference, found {value}",
            of.name
        ))),
    };
    let values = values.zip(&parameters.types);
    let values = values.map(|(value, of)| replaced(&schema, *of, value, &mut named));
    let mut values = values.collect::<Result<Vec<_>, _>>()?;
    let value = match values.len() {
        0 => Json::Null,
        // The method takes the whole message as its only argument.
        1 if parameters.is_whole => values.remove(0),
        _ => Json::from(values),
    };
    let message = compose(&schema, root, &value);
    let message = message.map_err(|error| parameters.wrong(&error.path, &error.details))?;
    Ok(ComposedCall {
        message,
        _objects: objects,
    })
}

/// Replaces the references in a result by descriptions of them. `text` is the signature of the
/// method.
pub(crate) fn shown(schema: &[u8], text: &str, result: Json) -> Result<Json, Failure> {
    let (schema, root) = Schema::from_snapshot(schema)?;
    let result_type = text.rsplit_once("->").map_or("", |(_, result)| result);
    let mut traits = result_type.split("dyn ").skip(1);
    let name = traits.next().filter(|_| traits.next().is_none());
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let name = name.map(|name| name.split(|c| !is_part(c)).next().unwrap_or_default());
    replaced(&schema, root, result, &mut |value| {
        let (kind, fields) = match value.as_object().and_then(|value| value.iter().next()) {
            Some((kind, fields)) => (kind.as_str(), fields),
            None => return Ok(value),
        };
        let to = match name {
            Some(name) => json!(format!("dyn {name}")),
            None => json!({ "interface": fields.get("interface") }),
        };
        let number = fields.get("number");
        Ok(match kind {
            "Mine" => json!({ "reference": to, "object": number }),
            "Elsewhere" => json!({ "reference": to, "at": fields.get("address") }),
            _ => json!({ "reference": to, "object": number, "of": "this program" }),
        })
    })
}

/// Applies `replace` to each reference to an object in a value of the type `of`.
fn replaced(
    schema: &Schema,
    of: TypeIndex,
    value: Json,
    replace: &mut dyn FnMut(Json) -> Result<Json, Failure>,
) -> Result<Json, Failure> {
    rewrite(schema, of, value, &mut |of, value| {
        Ok(match is_reference(schema, of) {
            true => Ok(replace(value)?),
            false => Err(value),
        })
    })
}

/// Returns true if the type is the wire form of a reference to an object.
fn is_reference(schema: &Schema, of: TypeIndex) -> bool {
    schema.get(of).is_some_and(|info| match &info.kind {
        Kind::Enum { variants, .. } => {
            let names = variants.iter().map(|variant| &*variant.name);
            info.name == "HandedRef" && names.eq(["Yours", "Mine", "Elsewhere", "Promised"])
        }
        _ => false,
    })
}

/// The parameters of a method.
struct Parameters<'s> {
    schema: &'s Schema,
    method: &'s str,
    /// Names and types, as written in the trait. Empty if the signature can't be split.
    texts: Vec<&'s str>,
    types: Vec<TypeIndex>,
    /// True if the method takes the whole message as its only argument.
    is_whole: bool,
}

impl<'s> Parameters<'s> {
    fn from_signature(of: &SignatureRef<'s>, schema: &'s Schema, root: TypeIndex) -> Self {
        let (types, is_whole) = match schema.get(root) {
            Some(info) if info.name == "()" => match &info.kind {
                Kind::Struct(fields) => (fields.iter().map(|field| field.of).collect(), false),
                _ => (Vec::new(), false),
            },
            _ => (vec![root], true),
        };
        let texts = parameters(of.text);
        Self {
            schema,
            method: of.name,
            texts: if texts.len() == types.len() {
                texts
            } else {
                Vec::new()
            },
            types,
            is_whole,
        }
    }

    /// Returns the position of a parameter, with its name and type if they are known.
    fn named(&self, index: usize) -> String {
        let number = index.saturating_add(1);
        match self.texts.get(index) {
            Some(text) => format!("argument {number} ({text})"),
            None => format!("argument {number}"),
        }
    }

    /// Returns an example of an argument, quoted for a shell.
    fn example(&self, index: usize) -> String {
        let of = self.types.get(index);
        let value = of.map_or(Json::Null, |of| {
            example(self.schema, *of, DEPTH, &Cell::new(MOST_PARTS))
        });
        format!("'{value}'")
    }

    /// Checks the number of arguments.
    fn check_count(&self, given: usize) -> Result<(), Failure> {
        let (method, count) = (self.method, self.types.len());
        if given < count {
            return Err(Failure::Usage(format!(
                "{method}: {} is missing; try {}",
                self.named(given),
                self.example(given)
            )));
        }
        if given > count {
            return Err(Failure::Usage(format!(
                "{method} takes {count} arguments ({}), but {given} were given",
                self.texts.join(", ")
            )));
        }
        Ok(())
    }

    /// Returns the failure of an argument that does not match its type, by the path of the invalid
    /// part.
    fn wrong(&self, path: &str, details: &str) -> Failure {
        let digits = |text: &str| {
            text.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(text.len())
        };
        let within = path.strip_prefix('.').filter(|_| !self.is_whole);
        let (index, rest) = match within.map(|path| path.split_at(digits(path))) {
            Some((index, rest)) => (index.parse().unwrap_or(0), rest),
            None => (0, path),
        };
        let rest = match rest {
            "" => String::new(),
            rest => format!(" at `{rest}`"),
        };
        Failure::Usage(format!(
            "{}: {}{rest}: {details}; try {}",
            self.method,
            self.named(index),
            self.example(index)
        ))
    }
}

/// Splits a signature, as written in the trait, into its parameters without the receiver.
fn parameters(text: &str) -> Vec<&str> {
    let Some((_, rest)) = text.split_once('(') else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let (mut depth, mut from, mut before) = (0usize, 0, ' ');
    for (at, c) in rest.char_indices() {
        match c {
            ')' if depth == 0 => {
                found.extend(rest.get(from..at));
                break;
            }
            ',' if depth == 0 => {
                found.extend(rest.get(from..at));
                from = at.saturating_add(1);
            }
            '(' | '[' | '<' => depth = depth.saturating_add(1),
            '>' if before == '-' => {}
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
    }
    let found = found.into_iter().map(str::trim);
    let is_receiver = |text: &str| text == "self" || text.ends_with(" self") || text == "&self";
    found
        .filter(|text| !text.is_empty() && !is_receiver(text))
        .collect()
}

/// Returns an example of a type's values, with at most `parts` values in it.
fn example(schema: &Schema, of: TypeIndex, depth: usize, parts: &Cell<usize>) -> Json {
    let has_room = depth > 0 && parts.get() > 0;
    let Some(info) = schema.get(of).filter(|_| has_room) else {
        return Json::Null;
    };
    parts.set(parts.get().saturating_sub(1));
    let inner = |of: &TypeIndex| example(schema, *of, depth.saturating_sub(1), parts);
    match &info.kind {
        Kind::Leaf => match info.name.as_str() {
            "()" => Json::Null,
            "bool" => json!(true),
            "char" => json!("a"),
            "f32" | "f64" => json!(1.5),
            _ => json!(1),
        },
        Kind::Text => json!("text"),
        Kind::Enum { .. } if is_reference(schema, of) => json!("name of a bound object"),
        Kind::Struct(fields) => example_of_fields(fields, inner),
        Kind::Enum { variants, .. } => match variants.first() {
            Some(first) if first.fields.is_empty() => json!(first.name),
            Some(first) => {
                let fields = example_of_fields(&first.fields, inner);
                Json::Object(Map::from_iter([(first.name.to_string(), fields)]))
            }
            None => Json::Null,
        },
        Kind::Outcome(ok, _) => json!({ "Ok": inner(ok) }),
        Kind::Array(element, count) => {
            let shown = 0..(*count).min(MOST_PARTS);
            Json::Array(shown.map(|_| inner(element)).collect())
        }
        Kind::Reference(target) | Kind::Shared(target) => inner(target),
        Kind::Slice(element) if schema.get(*element).is_some_and(is_text) => json!("text"),
        Kind::Slice(element) => json!([inner(element)]),
        _ => Json::Null,
    }
}

fn is_text(info: &jstream::schema::TypeInfo) -> bool {
    matches!(info.kind, Kind::Text)
}

fn example_of_fields(fields: &[FieldInfo], mut inner: impl FnMut(&TypeIndex) -> Json) -> Json {
    let is_numbered = fields
        .iter()
        .enumerate()
        .all(|(number, field)| field.name.parse() == Ok(number));
    let shown = fields.iter().take(MOST_PARTS);
    if is_numbered {
        return shown.map(|field| inner(&field.of)).collect();
    }
    let named = shown.map(|field| (field.name.to_string(), inner(&field.of)));
    Json::Object(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_many_values_are_short() {
        let (schema, root) = Schema::of::<[[u8; 1 << 20]; 1 << 20]>();
        let parts = Cell::new(MOST_PARTS);
        let shown = example(&schema, root, DEPTH, &parts).to_string();
        assert_eq!(parts.get(), 0);
        assert!(shown.len() < 1000, "{} bytes", shown.len());
    }
}
