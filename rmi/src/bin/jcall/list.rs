//! Listing of names and methods.

use jstream_rmi::{Client, SignatureRef};
use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::output;

/// Prints the bound names and their interfaces.
pub(crate) fn names(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let bound = client.reflection().bound().wait()?;
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        let names = bound
            .get()
            .iter()
            .map(|of| json!({ "name": of.name, "interface": of.interface, "id": id(of.id) }));
        return output::value(&json!({ "names": names.collect::<Vec<_>>() }), true);
    }
    if bound.get().is_empty() {
        return output::lines("nothing is bound");
    }
    let widest = bound.get().iter().map(|of| of.name.chars().count()).max();
    let width = widest.unwrap_or(0).min(40);
    let lines = bound.get().iter().map(|of| {
        let interface = format!("  {} {}", of.interface, id(of.id));
        (format!("{:width$}", of.name), interface)
    });
    output::named(&lines.collect::<Vec<_>>())
}

/// Prints the methods of the object that is bound to a name.
pub(crate) fn methods(client: &Client, name: &str, arguments: &Arguments) -> Result<(), Failure> {
    let object = client.describe(name).wait()?;
    let description = object.description();
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        let methods = description.methods.iter().map(|of| {
            json!({
                "name": of.name,
                "signature": of.text,
                "one_way": of.one_way,
                "idempotent": of.idempotent,
                "streams": of.streams,
            })
        });
        let all = json!({
            "name": name,
            "interface": description.name,
            "id": id(description.id),
            "methods": methods.collect::<Vec<_>>(),
        });
        return output::value(&all, true);
    }
    let interface = format!(": {} {}", description.name, id(description.id));
    let mut lines = vec![(name.to_owned(), interface)];
    let methods = description.methods.iter();
    lines.extend(methods.map(|of| (String::new(), line(of))));
    output::named(&lines)
}

fn line(of: &SignatureRef<'_>) -> String {
    let mut line = format!("  {}", of.text);
    let notes = [
        (of.one_way, "one-way"),
        (of.idempotent, "idempotent"),
        (of.streams, "streams: can't be called from here"),
    ];
    for (_, note) in notes.into_iter().filter(|(applies, _)| *applies) {
        line.push_str("  // ");
        line.push_str(note);
    }
    line
}

/// Formats a number that programs compare but do not compute with.
pub(crate) fn id(of: u64) -> String {
    format!("{of:#018x}")
}
