//! Two processes: a client sends the dependency graph of a `Cargo.lock` to a server in one call.
//! The server keeps the receive buffer, and answers questions about the graph in it.

mod graph;
mod lockfile;
mod measure;
mod page;
mod process;
mod service;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jstream_rmi::{Client, ClientOptions};
use lexopt::prelude::*;

use crate::graph::Graph;
use crate::lockfile::Lockfile;
use crate::page::OutputError;
use crate::process::ServerProcess;
use crate::service::{Dependencies, DependenciesStub};

const HELP: &str = "\
Sends the dependency graph of a Cargo.lock to a server process in one call and asks about it.

Usage: quickstart [--package NAME] [LOCKFILE]

  LOCKFILE        Cargo.lock to read [default: the one of this repository]
  --package NAME  Package whose dependents are listed, over all its versions
                  [default: the one with the most]
  -h, --help      Print this help
";

/// The use of the program that its arguments ask for.
enum Task {
    Help,
    /// Serve until standard input is closed. The client starts the server with `--serve`.
    Serve,
    Ask(Question),
}

/// The file to read, and the package whose dependents are listed.
#[derive(Default)]
struct Question {
    lockfile: Option<PathBuf>,
    package: Option<String>,
}

impl Task {
    /// Reads the command line.
    fn from_arguments() -> Result<Self, lexopt::Error> {
        let mut arguments = lexopt::Parser::from_env();
        let mut question = Question::default();
        while let Some(argument) = arguments.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(Self::Help),
                Long("serve") => return Ok(Self::Serve),
                Long("package") => question.package = Some(arguments.value()?.string()?),
                Value(file) if question.lockfile.is_none() => question.lockfile = Some(file.into()),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Self::Ask(question))
    }
}

fn main() -> ExitCode {
    let task = match Task::from_arguments() {
        Ok(task) => task,
        Err(error) => {
            writeln!(io::stderr(), "error: {error}; --help shows the arguments").ok();
            return ExitCode::from(2);
        }
    };
    let result = match task {
        Task::Help => {
            write!(io::stdout(), "{HELP}").map_err(|error| OutputError::from(error).into())
        }
        Task::Serve => process::serve(),
        Task::Ask(question) => run(&question),
    };
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    let output = error.downcast_ref::<OutputError>();
    if output.is_some_and(OutputError::nobody_reads) {
        return ExitCode::SUCCESS;
    }
    // If standard error can't be written either, only the exit code reports the failure.
    writeln!(io::stderr(), "error: {error}").ok();
    ExitCode::FAILURE
}

fn run(question: &Question) -> Result<(), Box<dyn Error>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("Cargo.lock");
    let lockfile = Lockfile::read(question.lockfile.as_ref().unwrap_or(&own))?;
    let edges = lockfile.edges()?;
    let packages = lockfile.packages(&edges);
    let graph = Graph {
        packages: &packages,
    };
    let mut asked = question.package.iter();
    if let Some(name) = asked.find(|name| !packages.iter().any(|package| package.name == **name)) {
        let (name, file) = (page::shown(name), &lockfile.file);
        return Err(format!("no package `{name}` in {file}").into());
    }

    let server = ServerProcess::start()?;
    let mut options = ClientOptions::default();
    options.transport = process::large();
    let client = Client::connect_with(&server.address, &options).wait()?;
    let dependencies = client.lookup::<dyn Dependencies>("dependencies").wait()?;
    let out = &mut io::stdout().lock();

    // Sends the whole graph in one call. The server keeps the buffer that it arrived in.
    let summary = *dependencies.submit(&graph).wait()?.get();
    page::summary(out, &lockfile.file, summary)?;
    answers(out, &dependencies, &graph, question.package.as_deref())?;
    let costs = measure::costs(&dependencies, &graph, server.raw)?;
    page::costs(out, &costs)?;
    Ok(())
}

/// Asks the server all questions and prints its answers.
fn answers(
    out: &mut impl Write,
    dependencies: &DependenciesStub,
    graph: &Graph<'_>,
    package: Option<&str>,
) -> Result<(), Box<dyn Error>> {
    let several = dependencies.several_versions().wait()?;
    page::versions(out, "In several versions", several.get())?;

    let chain = dependencies.longest_chain().wait()?;
    let heading = "Longest chain of dependencies";
    page::names(out, heading, chain.get(), " -> ")?;

    let Some(wanted) = package.or_else(|| graph.most_wanted()) else {
        return Ok(page::names(out, "Dependents", &[], ", ")?);
    };
    let dependents = dependencies.dependents(wanted).wait()?;
    let heading = format!("Dependents of {}", page::shown(wanted));
    page::names(out, &heading, dependents.get(), ", ")?;
    Ok(())
}
