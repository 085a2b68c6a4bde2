//! Errors of the program.

use std::io::{self, ErrorKind};

/// Error that ends the program or the session of one client.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has closed it.
    Closed,
    /// The command line is invalid.
    Usage(String),
    /// Any other failure, with its reason.
    Said(String),
}

impl Failure {
    /// Converts an error of writing to the standard output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Said(format!("the output can't be written: {error}"))
        }
    }

    /// Returns the reason.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Closed => "the output was closed by its reader",
            Self::Usage(text) | Self::Said(text) => text,
        }
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Said(error.to_string())
    }
}
