//! The command line.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use jstream::inspect::Options;

/// Shows what stands in a message, a stream, a file of objects, a schema, or a capture of a connection.
///
/// Everything is checked; what is wrong is shown at its byte, behind what was found before it. A file
/// brings the schemas of its objects along; for a message or a stream they are named with --schema.
#[derive(Debug, Parser)]
#[command(
    name = "jstream-inspect",
    version,
    after_help = "\
Examples:
  jstream-inspect orders.jsf                       all of a file, by its own schemas
  jstream-inspect orders.jsf --object 17 --hex     one object, with its bytes beside the values
  jstream-inspect message --schema order.schema    a message, by the bytes of Schema::to_bytes
  tail -c +1025 dump | jstream-inspect - --schema order.schema --json
  jstream-inspect orders.jsf --svg graph.svg       the first object and what it leads to, as a picture
  jstream-inspect orders.jsf --dot | dot -Tpdf -o graph.pdf
  jstream-inspect order.schema                     the types of a schema
  jstream-inspect calls.jcap                       the messages of a captured connection
  jstream-inspect calls.jcap --object 2            one of them, with its values by the schema that is there
  jstream-inspect orders.jsf --quiet               only check: nothing is printed but errors

The calls of a capture are made again by `jcall replay`, a program of the crate jstream-rmi.

Exit codes: 0 when all is well, 1 when the data is wrong or its schema is missing, 2 on wrong usage \
or when a file can't be read."
)]
pub(crate) struct Arguments {
    /// What to look at; - is the standard input.
    pub(crate) file: PathBuf,
    /// A file with the bytes of Schema::to_bytes: of the root, or of a class; may be said again.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Vec<PathBuf>,
    /// Only the object of this number; the first has 0.
    #[arg(long, value_name = "N")]
    pub(crate) object: Option<u64>,
    /// How deep values are shown: fields, payloads, and what pointers lead to.
    #[arg(long, value_name = "N", default_value_t = 64)]
    depth: usize,
    /// How many elements of each array or slice, and how many objects, are shown.
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) limit: usize,
    /// How many values of each object are shown.
    #[arg(long, value_name = "N", default_value_t = 1 << 16)]
    values: usize,
    /// How many bytes are read into memory at once: of an object of a file, a schema, a message, a whole
    /// stream.
    #[arg(long, value_name = "N", default_value_t = 1 << 30)]
    pub(crate) bytes: u64,
    /// The bytes beside the values.
    #[arg(long)]
    pub(crate) hex: bool,
    /// Everything as JSON, as the module jstream::inspect::json describes it.
    #[arg(long, conflicts_with_all = ["dot", "svg", "hex"])]
    pub(crate) json: bool,
    /// The object (the first, without --object) as a graph in the language of Graphviz.
    #[arg(long, conflicts_with = "svg")]
    pub(crate) dot: bool,
    /// A picture of the object (the first, without --object) goes to this file; - is the standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// How many boxes a picture has.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) boxes: usize,
    /// Nothing but errors, which go to the standard error output.
    #[arg(long, short, conflicts_with_all = ["json", "dot", "svg"])]
    pub(crate) quiet: bool,
    /// When there are colours.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: When,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    Always,
    Never,
}

impl Arguments {
    /// How much of a message is kept.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        options.elements = self.limit;
        options.depth = self.depth;
        options.values = self.values;
        options
    }

    /// Whether there are colours.
    pub(crate) fn colours(&self) -> bool {
        match self.color {
            When::Auto => {
                let to_terminal = if self.quiet {
                    std::io::stderr().is_terminal()
                } else {
                    std::io::stdout().is_terminal()
                };
                let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                to_terminal && !unwanted
            }
            When::Always => true,
            When::Never => false,
        }
    }
}
