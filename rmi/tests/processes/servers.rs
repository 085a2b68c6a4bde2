//! Calls between two real processes, also when one of them is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jstream::Transportable;
use jstream_rmi::{CallError, Client, Received, Remote, Server, context, remote};

use testing::process::{again, role};
use testing::until;

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
    /// Keeps the passed reference and returns another one.
    fn trade(&self, counter: Remote<dyn Counter>) -> Remote<dyn Counter>;
    fn exports(&self) -> u64;
}

#[derive(Default)]
struct Here {
    server: Server,
    kept: Mutex<Vec<Remote<dyn Counter>>>,
}

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
        std::thread::sleep(Duration::from_secs(600));
    }

    fn trade(&self, counter: Remote<dyn Counter>) -> Remote<dyn Counter> {
        self.kept.lock().unwrap().push(counter);
        let given = self.server.export::<dyn Counter>(Arc::new(Self::default()));
        given.into_remote()
    }

    fn exports(&self) -> u64 {
        self.server.references().exports as u64
    }
}

struct ServerProcess {
    child: Child,
    address: String,
}

impl ServerProcess {
    fn start() -> Self {
        let mut child = again("servers::server_process", "server")
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
        // The process may be gone already. The wait below reports that.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// Entry point of the server process. In the test process it does nothing.
#[test]
fn server_process() {
    if role().is_none() {
        return;
    }
    let server = Server::default();
    server
        .bind::<dyn Counter>("counter", Arc::new(Here::default()))
        .unwrap();
    let serving = server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap();
    println!("\n{}", serving.address());
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[remote]
trait Gate {
    fn process_of_caller(&self) -> Option<u32>;
}

struct Open;

impl Gate for Open {
    fn process_of_caller(&self) -> Option<u32> {
        context().peer()?.process
    }
}

/// Entry point of a client process, whose role is an address. In the test process it does nothing.
#[test]
fn gate_process() {
    let Some(address) = role() else { return };
    let client = Client::connect(&address.parse().unwrap()).wait().unwrap();
    let gate = client.lookup::<dyn Gate>("gate").wait().unwrap();
    let seen = *gate.process_of_caller().wait().unwrap().get();
    assert_eq!(seen, Some(std::process::id()));
    // The server is the parent of this process.
    let parent = std::os::unix::process::parent_id();
    assert_eq!(client.peer().process, Some(parent));
}

#[test]
fn both_processes_know_each_other_over_a_local_socket() {
    let server = Server::default();
    server.bind::<dyn Gate>("gate", Arc::new(Open)).unwrap();
    for address in ["uds://@processes-gate", "shm://processes-gate"] {
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let uri = serving.address().to_string();
        let status = again("servers::gate_process", &uri).status().unwrap();
        assert!(status.success(), "{address}: {status}");
    }
}

#[test]
fn another_process_answers() {
    let server = ServerProcess::start();
    let client = Client::connect(&server.address.parse().unwrap())
        .wait()
        .unwrap();
    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
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
    let client = Client::connect(&server.address.parse().unwrap())
        .wait()
        .unwrap();
    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
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
    assert!(
        Client::connect(&server.address.parse().unwrap())
            .wait()
            .is_err()
    );
}

/// Entry point of a client process that has a reference and has passed one. Its role is the address
/// of the server. In the test process it does nothing.
#[test]
fn client_process() {
    let Some(address) = role() else {
        return;
    };
    let client = Client::connect(&address.parse().unwrap()).wait().unwrap();
    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
    let own = Server::default();
    let export = own.export::<dyn Counter>(Arc::new(Here::default()));
    let _given = counter.trade(export.remote()).wait().unwrap();
    println!("\ntraded");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn what_a_killed_client_had_is_free() {
    let server = ServerProcess::start();
    let client = Client::connect(&server.address.parse().unwrap())
        .wait()
        .unwrap();
    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
    let mut other = again("servers::client_process", &server.address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "traded"));
    assert_eq!(*counter.exports().wait().unwrap().get(), 1);
    other.kill().unwrap();
    other.wait().unwrap();
    until(|| *counter.exports().wait().unwrap().get() == 0);
}

#[test]
fn what_a_killed_server_had_is_free() {
    let mut server = ServerProcess::start();
    let client = Client::connect(&server.address.parse().unwrap())
        .wait()
        .unwrap();
    let _hears = client.start().unwrap();
    let counter = client.lookup::<dyn Counter>("counter").wait().unwrap();
    let own = Server::default();
    let export = own.export::<dyn Counter>(Arc::new(Here::default()));
    let given = counter.trade(export.remote()).wait().unwrap();
    assert_eq!(export.references(), 1);
    server.child.kill().unwrap();
    until(|| export.references() == 0);
    assert!(given.process().wait().is_err());
}
