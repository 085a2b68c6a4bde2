//! The command `compat`: differences between two versions of a type.

use std::path::PathBuf;

use clap::Parser;
use jstream::command_line::{Color, title};
use jstream::evolve::{Compatibility, Effect, compatibility};
use serde_json::{Value as Json, json};

use crate::output::{Failure, Output, spelled};
use crate::version::Version;

/// Compares two versions of a type, and shows what happens to messages of one that are read as the
/// other.
///
/// Each version is a file with a schema or snapshot (Schema::to_bytes, Schema::to_snapshot), or a
/// file of objects. The rules of the version that reads apply, so a snapshot shows more than a
/// schema or a file of objects, which have no rules except must_understand.
#[derive(Debug, Parser)]
#[command(
    name = "jstream-inspect compat",
    bin_name = "jstream-inspect compat",
    version,
    after_help = "\
Examples:
  jstream-inspect compat order-v1.jschema order-v2.jschema
  jstream-inspect compat orders.jsf order-v2.jschema --type Order --json
  jstream-inspect compat order-v1.jschema order-v2.jschema --both

Exit codes: 0 if messages of OLD can be read as NEW, perhaps except for some values; 1 if not; 2 if \
the arguments are invalid or the versions can't be compared. With --both, also the other direction \
decides."
)]
pub(crate) struct Compat {
    /// The old version.
    old: PathBuf,
    /// The new version.
    new: PathBuf,
    /// Name or descriptor of the type, if a file has objects of several.
    #[arg(long = "type", value_name = "NAME")]
    type_of: Option<String>,
    /// Require that messages of NEW can be read as OLD, too.
    #[arg(long)]
    both: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) color: Color,
}

impl Compat {
    pub(crate) const NAME: &'static str = "compat";
}

/// Version of the JSON output.
const VERSION: u32 = 1;

/// Compares the versions, and returns true if they are compatible.
pub(crate) fn compare(arguments: &Compat) -> Result<bool, Failure> {
    let type_of = arguments.type_of.as_deref();
    let old = Version::load(&arguments.old, type_of)?;
    let new = Version::load(&arguments.new, type_of)?;
    let forward = differences(&old, &new)?;
    let backward = differences(&new, &old)?;
    let is_compatible = forward.is_compatible() && (!arguments.both || backward.is_compatible());
    let mut output = Output::standard(arguments.json);
    if arguments.json {
        let json = json!({
            "version": VERSION,
            "old": version_json(&old),
            "new": version_json(&new),
            "forward": direction_json(&forward),
            "backward": direction_json(&backward),
            "compatible": is_compatible,
        });
        output.line(&json.to_string())?;
    } else {
        direction(&mut output, (&old, &new), &forward)?;
        output.line("")?;
        direction(&mut output, (&new, &old), &backward)?;
    }
    output.finish()?;
    Ok(is_compatible)
}

/// Returns what happens to messages of one version that are read as another.
fn differences(from: &Version, to: &Version) -> Result<Compatibility, Failure> {
    let found = compatibility(from.types(), to.types());
    found.map_err(|error| {
        let (from, to) = (from.path.display(), to.path.display());
        Failure::Said(format!("{from} and {to} can't be compared: {error}"))
    })
}

/// Prints the differences of one direction.
fn direction(
    output: &mut Output,
    (from, to): (&Version, &Version),
    found: &Compatibility,
) -> Result<(), Failure> {
    let (from_path, to_path) = (
        from.path.display().to_string(),
        to.path.display().to_string(),
    );
    let outcome = match found.effect() {
        _ if from.descriptor == to.descriptor => "the same structure, read in place",
        Effect::Converted => "all messages are converted",
        Effect::Conditional => "messages with certain values are refused",
        _ => "all messages are refused",
    };
    let line = format!(
        "{} ({}) read as {} ({}): {outcome}",
        spelled(&from_path),
        from.name(),
        spelled(&to_path),
        to.name()
    );
    output.line(&title(&line))?;
    findings(output, found)
}

/// Prints the findings, one per line.
pub(crate) fn findings(output: &mut Output, found: &Compatibility) -> Result<(), Failure> {
    for finding in found.findings() {
        let (effect, change) = (finding.effect, finding.change);
        let (path, details) = (&finding.path, &finding.details);
        output.line(&format!("  {effect:<11} {change:<8} {path}: {details}"))?;
    }
    if found.unlisted() > 0 {
        output.line(&format!("  and {} further differences", found.unlisted()))?;
    }
    Ok(())
}

fn version_json(version: &Version) -> Json {
    json!({
        "file": version.path.display().to_string(),
        "type": version.name(),
        "descriptor": format!("{:#018x}", version.descriptor),
    })
}

fn direction_json(found: &Compatibility) -> Json {
    let findings = found.findings().iter().map(|finding| {
        json!({
            "effect": finding.effect.to_string(),
            "change": finding.change.to_string(),
            "path": finding.path,
            "what": finding.details,
        })
    });
    json!({
        "effect": found.effect().to_string(),
        "findings": findings.collect::<Vec<_>>(),
        "unlisted": found.unlisted(),
    })
}
