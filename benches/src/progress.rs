//! What is being measured right now, on stderr.

use std::io::{self, Write};

/// A line on stderr that is overwritten by the next, and wiped at the end.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    /// Says nothing unless `shown`.
    pub(crate) fn new(shown: bool) -> Self {
        Self { shown }
    }

    /// Shows `what` in place of what was shown before.
    pub(crate) fn step(&mut self, what: &str) {
        if self.shown {
            let mut stderr = io::stderr().lock();
            // Progress that can't be shown is no reason to stop.
            let _ = write!(stderr, "\r\x1b[K{what}").and_then(|()| stderr.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.step("");
    }
}
