//! The command line.

use std::path::PathBuf;

use clap::Parser;
use jstream::command_line::Color;
use jstream::inspect::Options;

/// Shows the contents of a message, a stream, a file of objects, a schema, or a capture of a
/// connection.
///
/// The whole input is validated. Errors are shown with their offset, after the values before them.
/// A file contains the schemas of its objects; for a message or a stream, pass them with --schema.
#[derive(Debug, Parser)]
#[command(
    name = "jstream-inspect",
    version,
    after_help = "\
Examples:
  jstream-inspect orders.jsf                       a whole file, with its own schemas
  jstream-inspect orders.jsf --object 17 --hex     one object, with its bytes beside the values
  jstream-inspect message --schema order.schema    a message, with a schema from Schema::to_bytes
  tail -c +1025 dump | jstream-inspect - --schema order.schema --json
  jstream-inspect orders.jsf --svg graph.svg       a picture of the first object and its targets
  jstream-inspect orders.jsf --dot | dot -Tpdf -o graph.pdf
  jstream-inspect order-v1.jschema                 the types of a schema, and their rules
  jstream-inspect calls.jcap                       the messages of a captured connection
  jstream-inspect calls.jcap --object 2            one message, with its values
  jstream-inspect orders.jsf --quiet               only validate: print nothing but errors
  jstream-inspect compat order-v1.jschema order-v2.jschema
                                                   can the new version read the old one's messages?
  jstream-inspect upgrade old.jsf new.jsf --schema order-v2.jschema
                                                   rewrite a file with objects of an older version

`jstream-inspect compat --help` and `jstream-inspect upgrade --help` show the options of these commands. A file with such a name is shown by ./compat or ./upgrade.

The program `jcall replay` of the crate jstream-rmi repeats the calls of a capture.

Exit codes: 0 on success, 1 if the data is invalid or its schema is missing, 2 if the arguments are \
invalid or a file can't be read."
)]
pub(crate) struct Arguments {
    /// Input file; - is the standard input.
    pub(crate) file: PathBuf,
    /// File with a schema or snapshot (Schema::to_bytes, Schema::to_snapshot) of a root or a class;
    /// can be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,
    /// Show only the object with this number; the first has number 0.
    #[arg(long, value_name = "N")]
    pub(crate) object: Option<u64>,
    /// Maximum depth of values: fields, payloads, and targets of pointers.
    #[arg(long, value_name = "N", default_value_t = 64)]
    depth: usize,
    /// Maximum number of elements of each array or slice, and of objects.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) limit: usize,
    /// Maximum number of values of each object.
    #[arg(long, value_name = "N", default_value_t = 1 << 16)]
    values: usize,
    /// Maximum number of bytes to load at once: an object of a file, a schema, a message, or a
    /// whole stream.
    #[arg(long, value_name = "N", default_value_t = 1 << 30)]
    pub(crate) bytes: u64,
    /// Show the bytes beside the values.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Print everything as JSON, in the format of the module jstream::inspect::json.
    #[arg(long, conflicts_with_all = ["dot", "svg", "hex"])]
    pub(crate) json: bool,
    /// Print a graph of the object (the first, without --object) in the DOT language of Graphviz.
    #[arg(long, conflicts_with = "svg")]
    pub(crate) dot: bool,
    /// Write a picture of the object (the first, without --object) to this file; - is the standard
    /// output.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Maximum number of boxes in a picture.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) boxes: usize,
    /// Print only errors, to the standard error output.
    #[arg(long, short, conflicts_with_all = ["json", "dot", "svg"])]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) color: Color,
}

impl Arguments {
    /// Returns the limits on the values that are kept.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        options.elements = self.limit;
        options.depth = self.depth;
        options.values = self.values;
        options
    }

    /// Returns true if the output is coloured.
    pub(crate) fn colours(&self) -> bool {
        match self.quiet {
            true => self.color.applies_to(&std::io::stderr()),
            false => self.color.applies_to(&std::io::stdout()),
        }
    }
}
