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

use clap::Parser;
use jstream_rmi::{Client, ClientOptions};

use crate::graph::Graph;
use crate::lockfile::Lockfile;
use crate::page::OutputError;
use crate::process::ServerProcess;
use crate::service::{Dependencies, DependenciesStub};

/// Sends the dependency graph of a Cargo.lock to a server process in one call and asks about it.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Arguments {
    /// Cargo.lock to read [default: the one of this repository]
    lockfile: Option<PathBuf>,
    /// Package whose dependents are listed, over all its versions [default: the one with the most]
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
    /// Serve until standard input is closed; the client starts the server with this option
    #[arg(long, hide = true)]
    serve: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = if arguments.serve {
        process::serve()
    } else {
        run(&arguments)
    };
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    let output = error.downcast_ref::<OutputError>();
    if output.is_some_and(OutputError::nobody_reads) {
        return ExitCode::SUCCESS;
    }
    // If standard error can't be written either, only the exit code reports the failure.
    writeln!(io::stderr(), "error: {}", chained(&*error)).ok();
    ExitCode::FAILURE
}

/// Returns the text of an error and its causes. Many errors already include the text of their
/// cause.
fn chained(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("Cargo.lock");
    let lockfile = Lockfile::read(arguments.lockfile.as_ref().unwrap_or(&own))?;
    let edges = lockfile.edges()?;
    let packages = lockfile.packages(&edges);
    let graph = Graph {
        packages: &packages,
    };
    let mut asked = arguments.package.iter();
    if let Some(name) = asked.find(|name| !packages.iter().any(|package| package.name == **name)) {
        let (name, file) = (page::shown(name), &lockfile.file);
        return Err(format!("no package `{name}` in {file}").into());
    }

    let server = ServerProcess::start()?;
    let mut options = ClientOptions::default();
    options.transport = process::large();
    let client = Client::connect_with(&server.address, &options)?;
    let dependencies = client.lookup::<dyn Dependencies>("dependencies")?;
    let out = &mut io::stdout().lock();

    // Sends the whole graph in one call. The server keeps the buffer that it arrived in.
    let summary = *dependencies.submit(&graph).wait()?.get();
    page::summary(out, &lockfile.file, summary)?;
    answers(out, &dependencies, &graph, arguments.package.as_deref())?;
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
