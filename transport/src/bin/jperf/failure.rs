//! What ends the program early.

use std::io::{self, ErrorKind};

/// Why the program, or one client's session, ends early.
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

    /// The reason in words.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Closed => "nobody reads the output",
            Self::Usage(text) | Self::Said(text) => text,
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Said(error.to_string())
    }
}
