//! Lists what a server serves, and calls it, for people who look for what is wrong.
#![forbid(unsafe_code)]

mod arguments;
mod call;
mod failure;
mod list;
mod output;
mod replay;

use std::process::ExitCode;

use clap::Parser;
use jstream_rmi::Client;

use self::arguments::Arguments;
use self::failure::Failure;
use self::replay::Replay;

/// As what it speaks.
const PROGRAM: &str = "jcall";

/// The program was asked for what can't be.
const USAGE: u8 = 2;
/// Something failed on the way.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    // Parsing ends the program by itself, with 2 on wrong usage.
    let mut words = std::env::args_os();
    let is_replay = words.nth(1).is_some_and(|word| word == "replay");
    let done = if is_replay {
        // Its own words begin there.
        replay::replay(&Replay::parse_from(std::env::args_os().skip(1)))
    } else {
        run(&Arguments::parse())
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

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let client = Client::connect_with(&arguments.server, &arguments.connecting.options()?)?;
    match (&arguments.name, &arguments.method) {
        (None, _) => list::names(&client, arguments),
        (Some(name), None) => list::methods(&client, name, arguments),
        (Some(name), Some(method)) => call::call(&client, name, method, arguments),
    }
}
