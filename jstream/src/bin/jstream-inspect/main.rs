//! Shows the contents of messages, streams, files, schemas and captures; compares versions of
//! types, and upgrades files to them.
#![forbid(unsafe_code)]

mod about;
mod arguments;
mod capture;
mod compat;
mod container;
mod output;
mod report;
mod upgrade;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use jstream::command_line;

use self::arguments::Arguments;
use self::compat::Compat;
use self::output::{Failure, Output};
use self::upgrade::Upgrade;

/// Exit code for invalid data, incompatible versions, and objects that can't be converted.
const WRONG: u8 = 1;
/// Exit code for invalid arguments and unreadable files.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Parsing exits with code 2 if the arguments are not valid.
    let words: Vec<_> = std::env::args_os().collect();
    // The commands have command lines of their own. Completions and the manual page are those of
    // the whole program.
    let of_command = |words: Vec<OsString>| words.into_iter().skip(1).collect();
    let whole = |_| with_commands(command_line::with_pages(Arguments::command()));
    match words.get(1).and_then(|word| word.to_str()) {
        Some(Compat::NAME) => {
            let arguments: Compat = command_line::parse(of_command(words), whole);
            arguments.color.set();
            exit(compat::compare(&arguments))
        }
        Some(Upgrade::NAME) => {
            let arguments: Upgrade = command_line::parse(of_command(words), whole);
            arguments.color.set();
            exit(upgrade::upgrade(&arguments))
        }
        _ => {
            let arguments: Arguments = command_line::parse(words, with_commands);
            arguments.color.set();
            exit(show(&arguments))
        }
    }
}

/// Adds the commands, for completions and the manual page.
fn with_commands(program: Command) -> Command {
    program
        .subcommand(Compat::command().name(Compat::NAME))
        .subcommand(Upgrade::command().name(Upgrade::NAME))
}

fn show(arguments: &Arguments) -> Result<bool, Failure> {
    let mut output = Output::from_arguments(arguments);
    let fine = match capture::is_capture(arguments) {
        true => capture::report(arguments, &mut output),
        false => report::report(arguments, &mut output),
    }?;
    output.finish()?;
    Ok(fine)
}

fn exit(done: Result<bool, Failure>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(WRONG),
        // The reader of the output has closed its end, which is not an error.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Said(text)) => {
            output::print_error(&text);
            ExitCode::from(USAGE)
        }
    }
}
