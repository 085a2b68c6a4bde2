//! Progress display on stderr.

use std::io::{self, Write};

/// A line on stderr that the next step overwrites. It is erased at the end.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    /// Creates a display, which prints nothing unless `shown`.
    pub(crate) fn new(shown: bool) -> Self {
        Self { shown }
    }

    /// Replaces the line by `what`.
    pub(crate) fn step(&mut self, what: &str) {
        if self.shown {
            let mut stderr = io::stderr().lock();
            // A failure to show the progress does not stop the run.
            let _ = write!(stderr, "\r\x1b[K{what}").and_then(|()| stderr.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.step("");
    }
}
