//! The command `compat`: whether clients of one server can go on with another one.

use clap::Parser;
use jstream::command_line::Color;
use jstream::evolve::{Effect, compatibility};
use jstream::schema::Schema;
use jstream_rmi::__private::is_same_name;
use jstream_rmi::{
    Address, CallerMethod, CallerVersion, Client, DescriptionRef, LookupError, SignatureRef,
};
use serde_json::{Value as Json, json};

use crate::arguments::Connecting;
use crate::failure::Failure;
use crate::list::id;
use crate::output;

/// Compares the interfaces of two running servers, and shows which methods the clients of OLD can
/// call at NEW.
///
/// Arguments are converted by the rules of NEW, which is asked. Results are converted by the rules
/// of the clients, which no server knows: a result that lacks a field counts as refused, although
/// the clients may have a default for it.
#[derive(Debug, Parser)]
#[command(
    name = "jcall compat",
    after_help = "\
Examples:
  jcall compat tcp://127.0.0.1:7000 tcp://127.0.0.1:7001
  jcall compat tcp://127.0.0.1:7000 tcp://127.0.0.1:7001 --name book --json

Exit codes: 0 if all methods can be called, 1 if some can't or a server could not be reached, 2 on wrong usage."
)]
pub(crate) struct Compat {
    /// Address of the server that the clients were built for.
    #[arg(value_name = "OLD")]
    old: Address,
    /// Address of the server that they shall call.
    #[arg(value_name = "NEW")]
    new: Address,
    /// Compare only the object with this name.
    #[arg(long)]
    name: Option<String>,
    /// Print JSON on one line, for programs.
    #[arg(long)]
    json: bool,
    /// Print nothing but errors: the exit code says whether all methods can be called.
    #[arg(long, short, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    pub(crate) color: Color,
    #[command(flatten)]
    connecting: Connecting,
}

/// The effect of the differences on calls of a method.
enum Calls {
    /// The messages are read in place.
    Unchanged,
    Converted,
    Refused(String),
}

/// The comparison of the objects that have a name.
struct Compared {
    name: String,
    /// The interfaces with their ids, as texts.
    versions: [String; 2],
    /// The methods of the old interface, or the reason why none can be called.
    methods: Result<Vec<(String, Calls)>, String>,
}

impl Compared {
    fn is_compatible(&self) -> bool {
        let all = self.methods.as_ref();
        all.is_ok_and(|all| !all.iter().any(|(_, of)| matches!(of, Calls::Refused(_))))
    }
}

/// Compares the servers. Returns a failure if a method can't be called.
pub(crate) fn compare(arguments: &Compat) -> Result<(), Failure> {
    let options = arguments.connecting.options()?;
    let connect = |address| Client::connect_with(address, &options).wait();
    let (old, new) = (connect(&arguments.old)?, connect(&arguments.new)?);
    let names = match &arguments.name {
        Some(name) => vec![name.clone()],
        None => {
            let bound = old.reflection().bound().wait()?;
            bound.get().iter().map(|of| of.name.to_owned()).collect()
        }
    };
    let compared = names.into_iter().map(|name| object(&old, &new, name));
    let compared = compared.collect::<Result<Vec<_>, _>>()?;
    let is_compatible = compared.iter().all(Compared::is_compatible);
    if arguments.json {
        let names: Vec<Json> = compared.iter().map(as_json).collect();
        output::value(
            &json!({ "compatible": is_compatible, "names": names }),
            true,
        )?;
    } else if !arguments.quiet {
        let lines: Vec<_> = compared.iter().flat_map(lines).collect();
        output::named(&lines)?;
    }
    match is_compatible {
        true => Ok(()),
        false => Err(Failure::Said(format!(
            "clients of {} can't call all methods at {}",
            arguments.old, arguments.new
        ))),
    }
}

/// Compares the objects that have a name.
fn object(old: &Client, new: &Client, name: String) -> Result<Compared, Failure> {
    let theirs = old.describe(&name).wait()?;
    let before = theirs.description();
    let version = |of: &DescriptionRef<'_>| format!("{} {}", of.name, id(of.id));
    let described = match new.describe(&name).wait() {
        Ok(described) => described,
        Err(LookupError::Unknown { .. }) => {
            return Ok(Compared {
                versions: [version(&before), "nothing".to_owned()],
                name,
                methods: Err("nothing is bound to the name".to_owned()),
            });
        }
        Err(error) => return Err(error.into()),
    };
    let after = described.description();
    let methods = match is_same_name(
        (before.name, before.older_names),
        (after.name, after.older_names),
    ) {
        true => Ok(methods(new, &name, &before, &after)?),
        false => Err("it is another trait".to_owned()),
    };
    Ok(Compared {
        versions: [version(&before), version(&after)],
        name,
        methods,
    })
}

/// Returns what becomes of the calls of each method of the old interface.
fn methods(
    new: &Client,
    name: &str,
    before: &DescriptionRef<'_>,
    after: &DescriptionRef<'_>,
) -> Result<Vec<(String, Calls)>, Failure> {
    let mut caller = CallerVersion {
        methods: Vec::new(),
        classes: before.classes.iter().map(|of| of.to_vec()).collect(),
        reached: Vec::new(),
    };
    let mut all = Vec::new();
    for method in before.methods {
        let found = place_of(method, after.methods);
        let found = found.and_then(|place| Some((place, after.methods.get(place)?)));
        let Some((place, there)) = found else {
            let missing = Calls::Refused("it is missing there".to_owned());
            all.push((method.name.to_owned(), None, missing));
            continue;
        };
        let index = u16::try_from(place).ok();
        let mut calls = Calls::Unchanged;
        if method.one_way != there.one_way || method.carried != there.carried {
            let other = "it is called in another way, or its streams or references differ";
            calls = Calls::Refused(other.to_owned());
        } else if let Some(refused) = result_change(method, there) {
            calls = refused;
        }
        if method.arguments != there.arguments || method.frames != there.frames {
            if let Calls::Unchanged = calls {
                calls = Calls::Converted;
            }
            caller.methods.extend(index.map(|index| {
                CallerMethod {
                    index,
                    argument_names: method
                        .argument_names
                        .iter()
                        .map(|&of| of.to_owned())
                        .collect(),
                    arguments: method.arguments.to_vec(),
                    frames: method.frames.iter().map(|of| of.to_vec()).collect(),
                }
            }));
        }
        all.push((method.name.to_owned(), index, calls));
    }
    if !caller.methods.is_empty() {
        let found = new.registry().lookup_version(name, after.version, &caller);
        let found = found.wait()?;
        let found = found.get();
        if found.number.is_none() {
            let reason = format!("{name} was not compared: {}", found.reason);
            return Err(Failure::Said(reason));
        }
        for refused in found.refused {
            for (_, index, calls) in &mut all {
                if *index == Some(refused.index) {
                    *calls = Calls::Refused(format!("arguments: {}", refused.reason));
                }
            }
        }
    }
    Ok(all
        .into_iter()
        .map(|(name, _, calls)| (name, calls))
        .collect())
}

/// Returns what becomes of results, if their types differ.
fn result_change(method: &SignatureRef<'_>, there: &SignatureRef<'_>) -> Option<Calls> {
    if method.one_way || method.result == there.result {
        return None;
    }
    let types = |bytes| Schema::from_snapshot(bytes).map_err(|error| error.to_string());
    let compared = types(method.result).and_then(|old| {
        let new = types(there.result)?;
        compatibility((&new.0, new.1), (&old.0, old.1)).map_err(|error| error.to_string())
    });
    Some(match compared {
        Ok(found) if found.effect() != Effect::Refused => Calls::Converted,
        Ok(found) => {
            let refused = found.findings().iter();
            let refused = refused.filter(|finding| finding.effect == Effect::Refused);
            let refused: Vec<String> = refused
                .map(|finding| format!("{}: {}", finding.path, finding.details))
                .collect();
            Calls::Refused(format!("result: {}", refused.join("; ")))
        }
        Err(reason) => Calls::Refused(format!("result: {reason}")),
    })
}

/// Returns the index of a method in another version of the interface.
fn place_of(method: &SignatureRef<'_>, there: &[SignatureRef<'_>]) -> Option<usize> {
    let by_name = there.iter().position(|of| of.name == method.name);
    by_name.or_else(|| {
        let own = (method.name, method.older_names);
        there
            .iter()
            .position(|of| is_same_name(own, (of.name, of.older_names)))
    })
}

fn lines(of: &Compared) -> Vec<(String, String)> {
    let [old, new] = &of.versions;
    let mut lines = vec![(of.name.clone(), format!(": {old}, then {new}"))];
    match &of.methods {
        Ok(methods) => lines.extend(methods.iter().map(|(name, calls)| {
            let text = match calls {
                Calls::Unchanged => "unchanged".to_owned(),
                Calls::Converted => "converted".to_owned(),
                Calls::Refused(reason) => format!("refused: {reason}"),
            };
            (String::new(), format!("  {name}: {text}"))
        })),
        Err(reason) => lines.push((String::new(), format!("  refused: {reason}"))),
    }
    lines
}

fn as_json(of: &Compared) -> Json {
    let [old, new] = &of.versions;
    let methods = of.methods.as_ref().map(|methods| {
        let methods = methods.iter().map(|(name, calls)| match calls {
            Calls::Unchanged => json!({ "name": name, "calls": "unchanged" }),
            Calls::Converted => json!({ "name": name, "calls": "converted" }),
            Calls::Refused(reason) => {
                json!({ "name": name, "calls": "refused", "reason": reason })
            }
        });
        methods.collect::<Vec<_>>()
    });
    json!({
        "name": of.name,
        "old": old,
        "new": new,
        "compatible": of.is_compatible(),
        "methods": methods.as_ref().ok(),
        "reason": methods.err(),
    })
}
