//! Failures that end the program early, and the exit codes.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use crate::output;

/// Exit code for wrong usage.
const USAGE: u8 = 2;
/// Exit code for any other failure.
const FAILED: u8 = 1;

/// Reason for which the program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of the output has closed it.
    Closed,
    /// Wrong usage, with a message.
    Usage(String),
    /// Any other failure, with a message.
    Said(String),
}

impl Failure {
    /// Prints the failure, if any, and returns the exit code.
    pub(crate) fn exit(done: Result<(), Self>) -> ExitCode {
        match done {
            // A closed output is not an error: its reader has read enough.
            Ok(()) | Err(Self::Closed) => ExitCode::SUCCESS,
            Err(Self::Usage(text)) => {
                output::print_error(&text);
                ExitCode::from(USAGE)
            }
            Err(Self::Said(text)) => {
                output::print_error(&text);
                ExitCode::from(FAILED)
            }
        }
    }

    /// Converts an error of writing to the standard output.
    pub(crate) fn of_output(error: &io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Said(format!("the output can't be written: {error}"))
        }
    }
}

impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
        // The text includes those of the causes.
        Self::Said(error.to_string())
    }
}
