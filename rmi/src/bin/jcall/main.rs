//! Lists the objects of a server and calls their methods, for debugging.
#![forbid(unsafe_code)]

mod arguments;
mod call;
mod compat;
mod failure;
mod list;
mod options;
mod output;
mod replay;
mod values;

use std::process::ExitCode;

use clap::CommandFactory;
use jstream::command_line;
use jstream_rmi::Client;

use self::arguments::Arguments;
use self::compat::Compat;
use self::failure::Failure;
use self::replay::Replay;

/// Name of the program in its messages.
const PROGRAM: &str = "jcall";

fn main() -> ExitCode {
    // On wrong usage, parsing exits with code 2.
    let words: Vec<_> = std::env::args_os().collect();
    // These commands have command lines of their own.
    let own = words.iter().skip(1).cloned().collect();
    match words.get(1).and_then(|word| word.to_str()) {
        Some("replay") => {
            let arguments: Replay = command_line::parse(own, |all| all);
            arguments.color.set();
            return Failure::exit(replay::replay(&arguments));
        }
        Some("compat") => {
            let arguments: Compat = command_line::parse(own, |all| all);
            arguments.color.set();
            return Failure::exit(compat::compare(&arguments));
        }
        _ => {}
    }
    let arguments: Arguments = command_line::parse(words, |all| {
        let compat = Compat::command().name("compat");
        all.subcommand(compat)
            .subcommand(Replay::command().name("replay"))
    });
    arguments.color.set();
    Failure::exit(run(&arguments))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let client =
        Client::connect_with(&arguments.server, &arguments.connecting.options()?).wait()?;
    match (&arguments.name, &arguments.method) {
        (None, _) => list::names(&client, arguments),
        (Some(name), None) => list::methods(&client, name, arguments),
        (Some(name), Some(method)) => call::call(&client, name, method, arguments),
    }
}
