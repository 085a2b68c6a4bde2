//! Calls between two real processes, and what happens when one is killed.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use jstream::Transportable;
use jstream_rmi::{CallError, Client, Received, Server, remote};

#[derive(Transportable, Debug)]
struct Package<'b> {
    name: &'b str,
    dependencies: &'b [u32],
}

#[remote]
trait Counter {
    fn count(&self, packages: Received<&'static [Package<'static>]>) -> u64;
    fn process(&self) -> u32;
    fn sleep(&self);
}

struct Here;

impl Counter for Here {
    fn count(&self, packages: Received<&'static [Package<'static>]>) -> u64 {
        let packages = packages.get();
        let bytes = packages.iter().map(|of| of.name.len() as u64);
        let edges = packages.iter().map(|of| of.dependencies.len() as u64);
        bytes.chain(edges).sum()
    }

    fn process(&self) -> u32 {
        std::process::id()
    }

    fn sleep(&self) {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
}

/// Marks the process that this test program starts as its server.
const SERVER: &str = "JSTREAM_TEST_SERVER";

struct ServerProcess {
    child: Child,
    address: String,
}

impl ServerProcess {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "server_process", "--nocapture"])
            .env(SERVER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .map(Result::unwrap)
            .find_map(|line| Some(line.split_once("tcp://")?.1.trim().to_owned()))
            .unwrap();
        let address = format!("tcp://{address}");
        Self { child, address }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It may be gone already; the wait below tells.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// The server, when this program was started as one; else nothing.
#[test]
fn server_process() {
    if std::env::var_os(SERVER).is_none() {
        return;
    }
    let server = Server::default();
    server
        .bind::<dyn Counter>("counter", Arc::new(Here))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    println!("\n{}", serving.address());
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn another_process_answers() {
    let server = ServerProcess::start();
    let client = Client::connect(&server.address.parse().unwrap()).unwrap();
    let counter = client.lookup::<dyn Counter>("counter").unwrap();
    assert_eq!(*counter.process().wait().unwrap().get(), server.child.id());
    let names: Vec<String> = (0..1000).map(|i| format!("package-{i}")).collect();
    let packages: Vec<_> = names
        .iter()
        .map(|name| Package {
            name,
            dependencies: &[1, 2, 3],
        })
        .collect();
    let bytes: usize = names.iter().map(String::len).sum();
    let reply = counter.count(&&packages[..]).wait().unwrap();
    assert_eq!(*reply.get(), bytes as u64 + 3000);
}

#[test]
fn a_killed_server_is_noticed() {
    let mut server = ServerProcess::start();
    let client = Client::connect(&server.address.parse().unwrap()).unwrap();
    let counter = client.lookup::<dyn Counter>("counter").unwrap();
    let waiting = counter.sleep();
    server.child.kill().unwrap();
    let error = waiting.wait().unwrap_err();
    assert!(
        matches!(
            error,
            CallError::Lost {
                method: "sleep",
                ..
            }
        ),
        "{error}"
    );
    assert!(counter.process().wait().is_err());
    assert!(Client::connect(&server.address.parse().unwrap()).is_err());
}
