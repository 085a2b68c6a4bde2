//! Shows the contents of messages, streams, files, schemas and captures.
#![forbid(unsafe_code)]

mod about;
mod arguments;
mod capture;
mod container;
mod output;
mod report;

use std::process::ExitCode;

use jstream::command_line;

use self::arguments::Arguments;
use self::output::{Failure, Output};

/// Exit code for invalid data.
const WRONG: u8 = 1;
/// Exit code for invalid arguments and unreadable files.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Exits with code 2 if the arguments are not valid.
    let arguments: Arguments = command_line::parse(std::env::args_os().collect(), |all| all);
    arguments.color.set();
    let mut output = Output::of(&arguments);
    let reported = if capture::is_capture(&arguments) {
        capture::report(&arguments, &mut output)
    } else {
        report::report(&arguments, &mut output)
    };
    let done = reported.and_then(|fine| {
        output.finish()?;
        Ok(fine)
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(WRONG),
        // The reader of the output has closed its end, which is not an error.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Said(text)) => {
            output::say(&text);
            ExitCode::from(USAGE)
        }
    }
}
