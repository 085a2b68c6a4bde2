//! `jperf`: measures the cost of messages between two processes, hosts or threads.

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

use jstream::command_line;

use self::arguments::{Command, Jperf};
use self::failure::Failure;

/// Exit code for wrong usage.
const USAGE: u8 = 2;
/// Exit code for other failures.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    // Clap itself exits with code 2 on wrong usage.
    let arguments: Jperf = command_line::parse(std::env::args_os().collect(), |all| all);
    arguments.color.set();
    let done = match arguments.command {
        Command::Serve(arguments) => server::serve(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Tune(arguments) => tune::tune(&arguments),
    };
    match done {
        // The reader of the output has closed it, which is not an error.
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => {
            output::print_error(&text);
            ExitCode::from(USAGE)
        }
        Err(Failure::Said(text)) => {
            output::print_error(&text);
            ExitCode::from(FAILED)
        }
    }
}
