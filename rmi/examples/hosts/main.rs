//! A registry with several hosts, each of them a network namespace. Servers are found by name, and
//! references to objects of third parties are passed and called between hosts.
//!
//! All processes run this program: `--registry`, `--library` and `--reader` serve on hosts of their
//! own, and `--desk` calls them from a fourth host. As they are on different hosts, they
//! authenticate each other with a secret. If namespaces can't be created, loopback addresses are
//! used as hosts.

mod network;
mod roles;
mod service;

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, ExitCode, Stdio};

use crate::network::Network;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const HOSTS: u8 = 4;

fn main() -> Outcome<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--registry", host] => roles::registry(host)?,
        ["--library", host, registry] => roles::library(host, registry)?,
        ["--reader", host, registry] => roles::reader(host, registry)?,
        ["--desk", registry] => roles::desk(registry)?,
        ["--inside"] => match Network::make(HOSTS) {
            Ok(network) => run(&network)?,
            Err(code) => return Ok(code),
        },
        _ => match network::inside("--inside")? {
            Some(code) => return Ok(code),
            None => run(&Network::Loopback)?,
        },
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts a process on a host. Returns it with the first line of its output.
fn start(network: &Network, host: u8, arguments: &[&str]) -> Outcome<(Running, String)> {
    let mut command = network.command(host)?;
    command.args(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take();
    let lines = child.stdout.take().ok_or("the process has no output")?;
    let running = Running { child, input };
    let mut line = String::new();
    BufReader::new(lines).read_line(&mut line)?;
    Ok((running, line.trim().to_owned()))
}

/// A running process. Dropping this closes its standard input and waits for its end.
struct Running {
    child: Child,
    input: Option<ChildStdin>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

fn run(network: &Network) -> Outcome {
    println!(
        "{HOSTS} hosts, from {} to {}",
        network.address(1),
        network.address(HOSTS)
    );
    let (_registry, at) = start(network, 1, &["--registry", &network.address(1)])?;
    println!("the registry is at {at}");
    let (_library, said) = start(network, 2, &["--library", &network.address(2), &at])?;
    println!("{said}");
    let (_reader, said) = start(network, 3, &["--reader", &network.address(3), &at])?;
    println!("{said}");
    let status = network.command(4)?.args(["--desk", &at]).status()?;
    if !status.success() {
        return Err(format!("the desk ended with {status}").into());
    }
    Ok(())
}
