//! What ends the program early, and how it ends.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use crate::output;

/// The program was asked for what can't be.
const USAGE: u8 = 2;
/// Something failed on the way.
const FAILED: u8 = 1;

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
    /// Ends the program, and says why.
    pub(crate) fn exit(done: Result<(), Self>) -> ExitCode {
        match done {
            // Whoever reads has read enough.
            Ok(()) | Err(Self::Closed) => ExitCode::SUCCESS,
            Err(Self::Usage(text)) => {
                output::say(&text);
                ExitCode::from(USAGE)
            }
            Err(Self::Said(text)) => {
                output::say(&text);
                ExitCode::from(FAILED)
            }
        }
    }

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
