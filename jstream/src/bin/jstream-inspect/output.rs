//! Output of the program, and errors that end it.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};

use jstream::command_line::name_of_program;

use crate::arguments::Arguments;

/// Reason to exit early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has closed its end.
    Closed,
    /// An error with this description.
    Said(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Said(format!("the output can't be written: {error}"))
        }
    }
}

/// The standard output, or with --quiet the standard error output.
pub(crate) struct Output {
    to: BufWriter<Box<dyn Write>>,
    /// True if the output is JSON, in which characters are not escaped.
    is_json: bool,
    failed: Option<io::Error>,
}

impl Output {
    pub(crate) fn from_arguments(arguments: &Arguments) -> Self {
        if arguments.quiet {
            Self::new(Box::new(io::stderr()), arguments.json)
        } else {
            Self::standard(arguments.json)
        }
    }

    /// Returns the standard output.
    pub(crate) fn standard(is_json: bool) -> Self {
        Self::new(Box::new(io::stdout()), is_json)
    }

    fn new(to: Box<dyn Write>, is_json: bool) -> Self {
        Self {
            to: BufWriter::new(to),
            is_json,
            failed: None,
        }
    }

    /// Writes the output of `write`.
    pub(crate) fn put(
        &mut self,
        write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
    ) -> Result<(), Failure> {
        let written = write(self);
        match self.failed.take() {
            Some(error) => Err(error.into()),
            None if written.is_err() => {
                Err(Failure::Said("the output can't be formatted".to_owned()))
            }
            None => Ok(()),
        }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.put(|to| writeln!(to, "{line}"))
    }

    /// Flushes the output.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.to.flush()?)
    }
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let text = match self.is_json {
            true => Cow::Borrowed(text),
            false => escaped(text, turns),
        };
        self.to.write_all(text.as_bytes()).map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

/// Prints a message to the standard error output.
pub(crate) fn print_error(text: &str) {
    let name = name_of_program("jstream-inspect");
    let _ = writeln!(io::stderr(), "{name}: {}", spelled(text));
}

/// Escapes control characters in text from outside, such as file names, to protect the terminal.
pub(crate) fn spelled(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() || turns(c))
}

/// Returns true if a character changes the direction of text, which can disguise names. Names in
/// schemas may contain such characters; values are printed with escapes.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut spelled = String::new();
    for c in text.chars() {
        if is_escaped(c) {
            spelled.extend(c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    Cow::Owned(spelled)
}
