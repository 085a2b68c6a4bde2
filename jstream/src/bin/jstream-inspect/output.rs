//! Where text goes, and what ends the program early.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Write};

use crate::arguments::Arguments;

/// Why the program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads the output any more.
    Closed,
    /// It can't go on, for this reason.
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

/// The standard output, or where errors go when nothing else is wanted.
pub(crate) struct Output {
    to: BufWriter<Box<dyn Write>>,
    /// Whether it is for programs, which see each character.
    is_json: bool,
    failed: Option<io::Error>,
}

impl Output {
    pub(crate) fn of(arguments: &Arguments) -> Self {
        let to: Box<dyn Write> = if arguments.quiet {
            Box::new(io::stderr())
        } else {
            Box::new(io::stdout())
        };
        Self {
            to: BufWriter::new(to),
            is_json: arguments.json,
            failed: None,
        }
    }

    /// Writes what `write` writes.
    pub(crate) fn put(
        &mut self,
        write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result,
    ) -> Result<(), Failure> {
        let written = write(self);
        match self.failed.take() {
            Some(error) => Err(error.into()),
            None if written.is_err() => Err(Failure::Said("the output can't be made".to_owned())),
            None => Ok(()),
        }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.put(|to| writeln!(to, "{line}"))
    }

    /// Waits until all is written.
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

/// Says something beside the output, to whoever listens.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "jstream-inspect: {}", spelled(text));
}

/// Text of others, such as a file's name, that commands no terminal.
pub(crate) fn spelled(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() || turns(c))
}

/// Whether a character changes the direction of those around it, so that names look as others. Names of
/// schemas may have it; values are printed with escapes.
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
