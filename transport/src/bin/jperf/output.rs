//! Output of text.

use std::io::{self, IsTerminal, Write};

use jstream::command_line::name_of_program;

use crate::failure::Failure;

/// Writes a message to the standard error output.
pub(crate) fn print_error(text: &str) {
    let name = name_of_program("jperf");
    let _ = writeln!(io::stderr(), "{name}: {}", spelled(text));
}

/// Escapes control characters in text of other programs, so that it can't control the terminal.
pub(crate) fn spelled(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            spelled.extend(c.escape_unicode());
        } else {
            spelled.push(c);
        }
    }
    spelled
}

/// Writes a line to the standard output and flushes it.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let mut to = io::stdout().lock();
    writeln!(to, "{text}")
        .and_then(|()| to.flush())
        .map_err(|error| Failure::of_output(&error))
}

/// A progress line on the standard error output. Each step overwrites the last one, and the line is
/// cleared at the end. Shown only on a terminal.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    shown: bool,
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && io::stderr().is_terminal(),
        }
    }

    /// Shows `text` in place of the previous text.
    pub(crate) fn show(&self, text: &str) {
        if self.shown {
            let mut to = io::stderr().lock();
            // A failure to show progress is ignored.
            let _ = write!(to, "\r\x1b[K{text}").and_then(|()| to.flush());
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.show("");
    }
}
