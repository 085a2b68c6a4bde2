//! Calls by the server's description of the method.

use jstream::inspect::{Catalog, Options, message, value};
use jstream::schema::Schema;
use jstream_rmi::{Client, Metadata};
use serde_json::Value as Json;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output;
use crate::values::{compose_call, shown};

/// Maximum depth to which nested values of results are printed.
const DEPTH: usize = 400;

/// Calls a method of the object that is bound to a name, and prints its result.
pub(crate) fn call(
    client: &Client,
    name: &str,
    method: &str,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let metadata = metadata(&arguments.metadata)?;
    let object = client.describe(name).wait()?.with_metadata(metadata);
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
    let sent = compose_call(client, of, &arguments.arguments)?;
    let result = object.call(place, &sent.message).map_err(|error| {
        let outcome = error.outcome().to_string();
        let text = error.to_string();
        Failure::Said(match text.contains(&outcome) {
            true => format!("{method}: {text}"),
            false => format!("{method}: {text} (the method {outcome})"),
        })
    })?;
    if of.one_way || arguments.quiet {
        return Ok(());
    }
    let value = value_of(of.result, result.as_bytes())?;
    output::value(&shown(of.result, of.text, value)?, arguments.json)
}

/// Returns the metadata of the command line.
fn metadata(entries: &[String]) -> Result<Metadata, Failure> {
    let mut metadata = Metadata::default();
    for entry in entries {
        let (key, value) = entry
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("--metadata {entry}: write it as KEY=VALUE")))?;
        let added = metadata.insert(key, value);
        added.map_err(|error| Failure::Usage(format!("--metadata {entry}: {error}")))?;
    }
    Ok(metadata)
}

/// Decodes a message by its schema. An empty message stands for `()`.
pub(crate) fn value_of(schema: &[u8], bytes: &[u8]) -> Result<Json, Failure> {
    if bytes.is_empty() {
        let (schema, root) = Schema::from_snapshot(schema)?;
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
            fault.path, fault.details
        )));
    }
    if found.hidden > 0 {
        output::print_error(&format!(
            "{} values of the message are nested too deep to be shown",
            found.hidden
        ));
    }
    Ok(value::value(&found))
}
