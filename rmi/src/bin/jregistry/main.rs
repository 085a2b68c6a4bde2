//! Serves a registry of the names of several servers, or shows and changes the names of a running
//! registry.
#![forbid(unsafe_code)]

mod arguments;
#[path = "../jcall/failure.rs"]
mod failure;
#[path = "../jcall/options.rs"]
mod options;
#[path = "../jcall/output.rs"]
mod output;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use jstream::command_line;
use jstream_rmi::directory::{Directory, NAME, Names, Registrar, RegistrarOptions};
use jstream_rmi::{Address, Server};
use serde_json::json;

use self::arguments::{Arguments, Command};
use self::failure::Failure;

/// Name of the program in its messages.
const PROGRAM: &str = "jregistry";

fn main() -> ExitCode {
    // On wrong usage, parsing exits with code 2.
    let arguments: Arguments = command_line::parse(std::env::args_os().collect(), |all| all);
    arguments.color.set();
    Failure::exit(run(&arguments))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Serve {
            addresses,
            persist,
            anyone_may_replace,
        } => {
            let mut options = RegistrarOptions::default();
            options.anyone_may_replace = *anyone_may_replace;
            serve(arguments, addresses, persist.as_deref(), options)
        }
        Command::List { registry } => list(arguments, &connect(arguments, registry)?),
        Command::Lookup { registry, name } => {
            lookup(arguments, &connect(arguments, registry)?, name)
        }
        Command::Unbind { registry, name } => {
            if !connect(arguments, registry)?.unbind(name).wait()? {
                return Err(Failure::Said(format!("nothing is bound to \"{name}\"")));
            }
            Ok(())
        }
    }
}

fn connect(arguments: &Arguments, registry: &Address) -> Result<Names, Failure> {
    Ok(Names::connect_with(registry, &arguments.client()?).wait()?)
}

fn serve(
    arguments: &Arguments,
    addresses: &[Address],
    persist: Option<&Path>,
    options: RegistrarOptions,
) -> Result<(), Failure> {
    let server = Server::new(arguments.server()?);
    let registrar = match persist {
        Some(file) => Registrar::persistent(file, options)?,
        None => Registrar::new(options),
    };
    server.bind::<dyn Directory>(NAME, Arc::new(registrar))?;
    let serving = server.listen_all(addresses)?;
    if !arguments.quiet {
        let addresses = serving.addresses().iter().map(Address::to_string);
        let addresses: Vec<_> = addresses.collect();
        if arguments.json {
            output::value(&json!({ "addresses": addresses }), true)?;
        } else {
            output::lines(&addresses.join("\n"))?;
        }
    }
    serving.wait();
    Ok(())
}

fn list(arguments: &Arguments, names: &Names) -> Result<(), Failure> {
    let bound = names.list().wait()?;
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        let names = bound
            .iter()
            .map(|of| json!({ "name": of.name, "interface": of.interface, "id": id(of.id) }));
        return output::value(&json!({ "names": names.collect::<Vec<_>>() }), true);
    }
    if bound.is_empty() {
        return output::lines("nothing is bound");
    }
    let widest = bound.iter().map(|of| of.name.chars().count()).max();
    let width = widest.unwrap_or(0).min(40);
    let lines = bound.iter().map(|of| {
        let interface = format!("  {} {}", of.interface, id(of.id));
        (format!("{:width$}", of.name), interface)
    });
    output::named(&lines.collect::<Vec<_>>())
}

fn lookup(arguments: &Arguments, names: &Names, name: &str) -> Result<(), Failure> {
    let found = names.directory().lookup(name).wait()?;
    let Some(entry) = found.get() else {
        return Err(Failure::Said(format!("nothing is bound to \"{name}\"")));
    };
    if arguments.quiet {
        return Ok(());
    }
    if arguments.json {
        let entry = json!({
            "name": entry.name,
            "interface": entry.interface,
            "id": id(entry.id),
            "description": entry.description,
            "addresses": entry.addresses,
        });
        return output::value(&entry, true);
    }
    let interface = format!(": {} {}", id(entry.id), entry.description);
    let mut lines = vec![(entry.name.to_owned(), interface)];
    let addresses = entry.addresses.iter();
    lines.extend(addresses.map(|address| (String::new(), format!("  {address}"))));
    output::named(&lines)
}

/// Formats a number that programs compare but do not compute with.
fn id(of: u64) -> String {
    format!("{of:#018x}")
}
