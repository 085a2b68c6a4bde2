//! The command line of the command `upgrade`.

use std::path::PathBuf;

use clap::Parser;
use jstream::command_line::Color;

/// Rewrites a file of objects: converts the objects of older versions of types, and copies the
/// others unchanged.
///
/// A snapshot is the newer version of the objects whose type has its name, or an older name that
/// its rules list. Snapshots of classes convert the trait objects within the objects.
///
/// The new file has its name only when it is complete. Until then, its objects are in the file
/// NEW.upgrading. If the program is interrupted, or an object can't be converted, run it again: it
/// continues after the last object that was committed.
#[derive(Debug, Parser)]
#[command(
    name = "jstream-inspect upgrade",
    bin_name = "jstream-inspect upgrade",
    version,
    after_help = "\
Examples:
  jstream-inspect upgrade old.jsf new.jsf --schema order-v2.jschema
  jstream-inspect upgrade old.jsf new.jsf --schema drawing-v3.jschema --schema circle-v2.jschema

Exit codes: 0 on success, 1 if an object is damaged or can't be converted, 2 if the arguments are \
invalid, or a file can't be read or written."
)]
pub(crate) struct Upgrade {
    /// The file of objects to read.
    pub(crate) old: PathBuf,
    /// The file to write, which must not exist.
    pub(crate) new: PathBuf,
    /// Snapshot (Schema::to_snapshot) of a newer version of a type or class; can be repeated.
    #[arg(long, value_name = "SNAPSHOT", required = true)]
    pub(crate) schema: Vec<PathBuf>,
    /// Print only errors: no progress, and no summary.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) color: Color,
}

impl Upgrade {
    pub(crate) const NAME: &'static str = "upgrade";
}
