//! Calls by the server's description of the method.

use jstream::inspect::{Catalog, Options, compose, message, value};
use jstream::schema::{Schema, TypeIndex};
use jstream_rmi::{Client, SignatureRef};
use serde_json::Value as Json;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output;

/// Maximum depth to which nested values of results are printed.
const DEPTH: usize = 400;

/// Calls a method of the object that is bound to a name, and prints its result.
pub(crate) fn call(
    client: &Client,
    name: &str,
    method: &str,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let object = client.describe(name)?;
    let methods = object.description().methods;
    let found = methods.iter().position(|of| of.name == method);
    let Some((place, of)) = found.and_then(|place| Some((place, methods.get(place)?))) else {
        let known: Vec<_> = methods.iter().map(|of| of.name).collect();
        return Err(Failure::Usage(format!(
            "`{name}` has no method `{method}`; it has: {}",
            known.join(", ")
        )));
    };
    if of.streams {
        return Err(Failure::Usage(format!(
            "`{}` has streams, so jcall can't call it",
            of.text
        )));
    }
    let sent = written(of, &arguments.arguments)?;
    let result = object.call(place, &sent).map_err(|error| {
        let outcome = error.outcome();
        match Failure::from(error) {
            Failure::Said(text) => {
                Failure::Said(format!("{method}: {text} (the method: {outcome:?})"))
            }
            other => other,
        }
    })?;
    if of.one_way {
        return Ok(());
    }
    let shown = value_of(of.result, result.as_bytes())?;
    output::value(&shown, arguments.json)
}

/// Returns the message of the arguments.
fn written(of: &SignatureRef<'_>, arguments: &[String]) -> Result<Vec<u8>, Failure> {
    let (schema, root) = Schema::from_bytes(of.arguments)?;
    let mut values: Vec<Json> = arguments
        .iter()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| Json::from(text.as_str())))
        .collect();
    let value = if values.is_empty() {
        Json::Null
    } else if values.len() == 1 && !is_tuple(&schema, root) {
        // The method takes the whole message as its only argument.
        values.remove(0)
    } else {
        Json::from(values)
    };
    compose(&schema, root, &value).map_err(|error| {
        Failure::Usage(format!("the arguments do not match `{}`: {error}", of.text))
    })
}

fn is_tuple(schema: &Schema, root: TypeIndex) -> bool {
    schema.get(root).is_some_and(|info| info.name == "()")
}

/// Decodes a message by its schema. An empty message stands for `()`.
pub(crate) fn value_of(schema: &[u8], bytes: &[u8]) -> Result<Json, Failure> {
    if bytes.is_empty() {
        let (schema, root) = Schema::from_bytes(schema)?;
        if schema.is_unit(root) {
            return Ok(Json::Null);
        }
    }
    let mut catalog = Catalog::default();
    catalog.add_bytes(schema)?;
    let mut options = Options::default();
    options.elements = usize::MAX;
    options.values = usize::MAX;
    options.text = usize::MAX;
    options.depth = DEPTH;
    let found = message(bytes, &catalog, &options);
    if let Some(fault) = &found.fault {
        return Err(Failure::Said(format!(
            "the message can't be read: {}: {}",
            fault.path, fault.what
        )));
    }
    if found.hidden > 0 {
        output::say(&format!(
            "{} values of the message are nested too deep to be shown",
            found.hidden
        ));
    }
    Ok(value::value(&found))
}
