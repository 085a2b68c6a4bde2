//! What ends the program early.

use std::error::Error;
use std::io::{self, ErrorKind};

/// Why the program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody reads the output any more.
    Closed,
    /// It was asked for what can't be.
    Usage(String),
    /// It can't go on, for this reason.
    Said(String),
}

impl Failure {
    /// Of writing to the standard output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Said(format!("the output can't be written: {error}"))
        }
    }
}

impl<E: Error> From<E> for Failure {
    /// With the reasons for it, where it does not name them itself.
    fn from(error: E) -> Self {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(reason) = source {
            let reason_text = reason.to_string();
            if !text.contains(&reason_text) {
                text.push_str(": ");
                text.push_str(&reason_text);
            }
            source = reason.source();
        }
        Self::Said(text)
    }
}
