//! Measures what messages cost between here and there.

mod arguments;
mod buffers;
mod chart;
mod failure;
mod greeting;
mod lead;
mod machine;
mod output;
mod own;
mod party;
mod report;
mod run;
mod server;
mod session;
mod signals;
mod sizes;
mod tagged;
mod times;
mod tune;
mod units;
mod work;

use std::process::ExitCode;

use clap::Parser;

use self::arguments::{Command, Jperf};
use self::failure::Failure;

/// The program can't do what it was asked.
const USAGE: u8 = 2;
/// Something failed on the way.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    // Ends the program by itself, with 2 on wrong usage.
    let done = match Jperf::parse().command {
        Command::Serve(arguments) => server::serve(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Tune(arguments) => tune::tune(&arguments),
    };
    match done {
        // Whoever reads has read enough.
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => {
            output::say(&text);
            ExitCode::from(USAGE)
        }
        Err(Failure::Said(text)) => {
            output::say(&text);
            ExitCode::from(FAILED)
        }
    }
}
