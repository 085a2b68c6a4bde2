//! Lists the objects of a server and calls their methods, for debugging.
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

/// Name of the program in its messages.
const PROGRAM: &str = "jcall";

fn main() -> ExitCode {
    // On wrong usage, parsing exits with code 2.
    let mut words = std::env::args_os();
    let is_replay = words.nth(1).is_some_and(|word| word == "replay");
    Failure::exit(if is_replay {
        // `replay` has a command line of its own.
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
