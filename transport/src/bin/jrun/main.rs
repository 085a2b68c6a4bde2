//! `jrun`: starts the processes of a world on this host or on others, and ends them together.

mod arguments;
mod binding;
mod descendants;
mod failure;
mod guard;
mod hosts;
mod job;
mod labels;
mod local;
mod mark;
mod members;
mod messages;
mod output;
mod placement;
mod plan;
mod process;
mod relay;
mod signals;
mod start_error;
mod world_name;

use std::process::ExitCode;

use jstream::command_line;

use self::arguments::Jrun;
use self::failure::Failure;

/// Exit code for wrong usage.
const USAGE: u8 = 2;
/// Exit code for failures of this program.
const FAILED: u8 = 125;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let done = match words.get(1).and_then(|word| word.to_str()) {
        Some(guard::OPTION) => guard::run(),
        Some(hosts::agent::OPTION) => hosts::agent::run(),
        _ => {
            // Clap itself exits with code 2 on wrong usage.
            let arguments: Jrun = command_line::parse(words, |all| all);
            arguments.color.set();
            run(&arguments)
        }
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Usage(text)) => {
            messages::print_error(&text);
            ExitCode::from(USAGE)
        }
        Err(Failure::Said(text)) => {
            messages::print_error(&text);
            ExitCode::from(FAILED)
        }
    }
}

fn run(arguments: &Jrun) -> Result<u8, Failure> {
    let plan = plan::Plan::from_arguments(arguments)?;
    if arguments.dry_run {
        messages::print(&plan.describe());
        return Ok(0);
    }
    job::run(plan, arguments)
}
