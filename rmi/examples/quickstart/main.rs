//! Two processes: a client sends the dependency graph of a `Cargo.lock` to a server in one call,
//! the server keeps the receive buffer and answers questions about the graph in it.

mod graph;
mod lockfile;
mod measure;
mod service;

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;

use clap::Parser;
use jstream_rmi::{Address, Client, Server};

use crate::graph::Graph;
use crate::lockfile::Lockfile;
use crate::service::{Dependencies, DependenciesStub, Keeper};

/// Sends the dependency graph of a Cargo.lock to a server process in one call and asks about it.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Arguments {
    /// The Cargo.lock to read [default: this repository's own]
    lockfile: Option<PathBuf>,
    /// Whose dependents to ask for [default: the package with the most]
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
    /// Serve until standard input ends; the client starts the server with it
    #[arg(long, hide = true)]
    serve: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = if arguments.serve {
        serve()
    } else {
        run(&arguments)
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprint!(": {error}");
                cause = error.source();
            }
            eprintln!();
            ExitCode::FAILURE
        }
    }
}

/// The server process: says where it listens, and serves until its client is gone.
fn serve() -> Result<(), Box<dyn Error>> {
    let server = Server::default();
    server.bind::<dyn Dependencies>("dependencies", Arc::new(Keeper::default()))?;
    let serving = server.listen(&"tcp://127.0.0.1:0".parse()?)?;
    let raw = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", serving.address());
    println!("{}", raw.local_addr()?);
    io::stdout().flush()?;
    std::thread::spawn(move || measure::echo_lengths(&raw));
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The server process as the client holds it: it ends when its standard input does.
struct ServerProcess {
    child: Child,
    address: Address,
    raw: SocketAddr,
}

impl ServerProcess {
    fn start() -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let mut lines = BufReader::new(stdout).lines();
        let mut line = || {
            lines
                .next()
                .unwrap_or(Err(io::ErrorKind::UnexpectedEof.into()))
        };
        Ok(Self {
            address: line()?.parse()?,
            raw: line()?.parse()?,
            child,
        })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("the server did not end: {error}");
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let path = arguments.lockfile.clone().unwrap_or_else(|| own.into());
    let lockfile = Lockfile::read(&path)?;
    let edges = lockfile.edges()?;
    let packages = lockfile.packages(&edges);
    let graph = Graph {
        packages: &packages,
    };

    let server = ServerProcess::start()?;
    let client = Client::connect(&server.address)?;
    let dependencies = client.lookup::<dyn Dependencies>("dependencies")?;

    // The whole graph in one call; the server keeps the buffer that it arrived in.
    let summary = *dependencies.submit(&graph).wait()?.get();
    println!(
        "{}: {} packages, {} dependencies\n",
        path.display(),
        summary.packages,
        summary.edges
    );
    answers(&dependencies, &graph, arguments.package.as_deref())?;
    measure::table(&dependencies, &graph, server.raw)
}

/// Asks the server's questions and prints what it says.
fn answers(
    dependencies: &DependenciesStub,
    graph: &Graph<'_>,
    package: Option<&str>,
) -> Result<(), Box<dyn Error>> {
    let several = dependencies.several_versions().wait()?;
    println!("In several versions ({}):", several.get().len());
    for (name, versions) in *several.get() {
        println!("    {name}: {}", versions.join(", "));
    }

    let chain = dependencies.longest_chain().wait()?;
    println!("\nLongest chain of dependencies ({}):", chain.get().len());
    println!("    {}", chain.get().join(" -> "));

    let Some(wanted) = package.or_else(|| graph.most_wanted()) else {
        return Ok(());
    };
    let dependents = dependencies.dependents(wanted).wait()?;
    println!("\nWho depends on {wanted} ({}):", dependents.get().len());
    println!("    {}\n", dependents.get().join(", "));
    Ok(())
}
