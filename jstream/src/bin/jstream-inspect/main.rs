//! Shows what stands in messages, streams, files, schemas and captures.
#![forbid(unsafe_code)]

mod about;
mod arguments;
mod capture;
mod container;
mod output;
mod report;

use std::process::ExitCode;

use clap::Parser;

use self::arguments::Arguments;
use self::output::{Failure, Output};

/// The data is wrong.
const WRONG: u8 = 1;
/// The program can't do what it was asked.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Ends the program by itself, with 2 on wrong usage.
    let arguments = Arguments::parse();
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
        // Whoever reads has read enough.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Said(text)) => {
            output::say(&text);
            ExitCode::from(USAGE)
        }
    }
}
