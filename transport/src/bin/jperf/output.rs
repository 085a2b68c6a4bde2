//! Where text goes.

use std::io::{self, IsTerminal, Write};

use crate::failure::Failure;

/// Says something beside the output, to whoever listens.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "jperf: {}", spelled(text));
}

/// Text of others, that commands no terminal.
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

/// A line on the standard output, at once.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let mut to = io::stdout().lock();
    writeln!(to, "{text}")
        .and_then(|()| to.flush())
        .map_err(|error| Failure::of_output(&error))
}

/// A line on the standard error output that the next one overwrites, and that is wiped in the end. It is
/// there only on a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            shown: !quiet && io::stderr().is_terminal(),
        }
    }

    /// Shows `what` in place of what was shown before.
    pub(crate) fn step(&self, what: &str) {
        if self.shown {
            let mut to = io::stderr().lock();
            // Progress that can't be shown is no reason to stop.
            let _ = write!(to, "\r\x1b[K{what}").and_then(|()| to.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.step("");
    }
}
