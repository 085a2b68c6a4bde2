//! Lists what a server serves, and calls it, for people who look for what is wrong.
#![forbid(unsafe_code)]

mod arguments;
mod call;
mod failure;
mod list;
mod options;
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

fn main() -> ExitCode {
    // Parsing ends the program by itself, with 2 on wrong usage.
    let mut words = std::env::args_os();
    let is_replay = words.nth(1).is_some_and(|word| word == "replay");
    Failure::exit(if is_replay {
        // Its own words begin there.
        replay::replay(&Replay::parse_from(std::env::args_os().skip(1)))
    } else {
        run(&Arguments::parse())
    })
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let client = Client::connect_with(&arguments.server, &arguments.connecting.options()?)?;
    match (&arguments.name, &arguments.method) {
        (None, _) => list::names(&client, arguments),
        (Some(name), None) => list::methods(&client, name, arguments),
        (Some(name), Some(method)) => call::call(&client, name, method, arguments),
    }
}
