//! Sockets that are given to server processes from outside, and processes that replace one another
//! at the same socket or port.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    Address, AddressList, Client, ClientSet, LookupError, Outcome, Server, ServerOptions, remote,
};
use testing::process::{ROLE, again, arguments, role};
use testing::until;

/// Long enough for any machine. Only a hang reaches it.
const LONG: Duration = Duration::from_secs(60);

#[remote]
trait Place {
    fn process(&self) -> u32;
    /// Returns the error of taking the sockets once more.
    fn take_again(&self) -> String;
    /// Returns the descriptors that a process of the server inherits.
    fn inherited(&self) -> String;
}

struct Plain;

impl Place for Plain {
    fn process(&self) -> u32 {
        std::process::id()
    }

    fn take_again(&self) -> String {
        let error = Server::default().listen_activated().unwrap_err();
        error.to_string()
    }

    fn inherited(&self) -> String {
        let listed = Command::new("sh")
            .args([
                "-c",
                "readlink /proc/$$/fd/*; echo \"pid=$LISTEN_PID own=$$\"",
            ])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap()
    }
}

struct ServerProcess {
    child: Child,
    /// Kept, so that the process can write.
    _output: BufReader<ChildStdout>,
}

impl ServerProcess {
    /// Starts a process that gets a socket as a service manager gives it: as descriptor 3.
    fn activated(socket: OwnedFd) -> Self {
        // The shell becomes the server, so that the variable names it.
        let script = r#"exec 3<&2 2>&1; export LISTEN_PID=$$; exec "$0" "$@""#;
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(arguments("activated::server_process"))
            .env(ROLE, "activated")
            .env("LISTEN_FDS", "1")
            .env("LISTEN_FDNAMES", "place")
            .stderr(Stdio::from(socket));
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = output.by_ref().lines();
        assert!(lines.any(|line| line.unwrap().contains("listening")));
        Self {
            child,
            _output: output,
        }
    }

    /// Shuts the server down in order.
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may be gone already. The wait below reports that.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// Entry point of the server processes. In the test process it does nothing.
#[test]
fn server_process() {
    let Some(role) = role() else { return };
    let serving = match role.as_str() {
        "activated" => server(false).listen_activated(),
        port => server(true).listen(&port.parse().unwrap()),
    };
    let serving = serving.unwrap();
    println!("\nlistening");
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    serving.shutdown(LONG).wait();
}

fn server(reuse_port: bool) -> Server {
    let mut options = ServerOptions::default();
    options.transport.reuse_port = reuse_port;
    let server = Server::new(options);
    server.bind::<dyn Place>("place", Arc::new(Plain)).unwrap();
    server
}

fn tcp(listener: &TcpListener) -> Address {
    format!("tcp://{}", listener.local_addr().unwrap())
        .parse()
        .unwrap()
}

fn place(address: &Address) -> PlaceStub {
    let client = Client::connect(address).wait().unwrap();
    client.lookup::<dyn Place>("place").wait().unwrap()
}

#[test]
fn a_process_serves_at_the_sockets_that_it_was_given() {
    let name = format!("jstream-activated-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let unix = UnixListener::bind(&path).unwrap();
    let inet = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = [tcp(&inet), Address::uds(path.to_str().unwrap()).unwrap()];
    let sockets: [OwnedFd; 2] = [inet.into(), unix.into()];
    for (socket, address) in sockets.into_iter().zip(addresses) {
        let process = ServerProcess::activated(socket.try_clone().unwrap());
        let place = place(&address);
        assert_eq!(*place.process().wait().unwrap().get(), process.child.id());
        let error = place.take_again().wait().unwrap();
        assert!(error.get().contains("taken before"), "{}", error.get());
        let inherited = place.inherited().wait().unwrap();
        assert!(!inherited.get().contains("socket:"), "{}", inherited.get());
        assert!(inherited.get().contains("own="), "{}", inherited.get());
        process.end();
        // The socket is open, so connections are queued and not refused.
        let client = Client::connect(&address);
        let next = ServerProcess::activated(socket);
        client.wait().unwrap();
        next.end();
    }
    // The file belongs to the service manager.
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn without_a_service_manager_there_are_no_sockets() {
    let error = Server::default()
        .listen_activated()
        .unwrap_err()
        .to_string();
    assert!(error.contains("LISTEN_PID is not set"), "{error}");
}

#[test]
fn a_process_replaces_another_one_at_a_socket_and_no_connection_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp(&listener);
    let socket = OwnedFd::from(listener);
    let start = || ServerProcess::activated(socket.try_clone().unwrap());
    let (done, connected) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut running = start();
    let mut processes = vec![running.child.id()];
    let seen = thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|_| {
                let (address, done, connected) = (&address, &done, &connected);
                scope.spawn(move || {
                    let mut seen = BTreeSet::new();
                    while !done.load(Ordering::SeqCst) {
                        let client = Client::connect(address).wait().unwrap();
                        connected.fetch_add(1, Ordering::SeqCst);
                        // A server that shuts down returns calls.
                        let found = client.lookup::<dyn Place>("place").wait();
                        let called = found.and_then(|place| Ok(place.process().wait()?));
                        match called {
                            Ok(process) => drop(seen.insert(*process.get())),
                            Err(LookupError::Call(error)) => {
                                assert!(error.is_disconnected(), "{error}");
                                assert_eq!(error.outcome(), Outcome::DidNotRun, "{error}");
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                    seen
                })
            })
            .collect();
        // A set moves to the next process, and loses no call.
        let calling = scope.spawn(|| {
            let list = AddressList::new([address.clone()]).unwrap();
            let place = ClientSet::open(list).unwrap().get::<dyn Place>("place");
            while !done.load(Ordering::SeqCst) {
                place.process().wait().unwrap();
            }
        });
        for _ in 0..5 {
            let before = connected.load(Ordering::SeqCst);
            until(|| connected.load(Ordering::SeqCst) > before + 20);
            let next = start();
            processes.push(next.child.id());
            std::mem::replace(&mut running, next).end();
        }
        let before = connected.load(Ordering::SeqCst);
        until(|| connected.load(Ordering::SeqCst) > before + 20);
        done.store(true, Ordering::SeqCst);
        calling.join().unwrap();
        let seen = callers.into_iter().map(|caller| caller.join().unwrap());
        seen.flatten().collect::<BTreeSet<_>>()
    });
    assert!(processes.iter().all(|process| seen.contains(process)));
    running.end();
}

#[test]
fn processes_share_a_port() {
    let first = server(true);
    let serving = first.listen(&"tcp://127.0.0.1:0".parse().unwrap()).unwrap();
    let address = serving.address().clone();
    let other = ServerProcess::start(again("activated::server_process", &address.to_string()));
    let processes = BTreeSet::from([std::process::id(), other.child.id()]);
    let mut seen = BTreeSet::new();
    until(|| {
        seen.insert(*place(&address).process().wait().unwrap().get());
        seen.len() == 2
    });
    assert_eq!(seen, processes);
    // All of them have to ask for that.
    let error = server(false).listen(&address).unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");
    other.end();
}

#[test]
fn only_ports_are_shared() {
    for address in ["uds://@jstream-shared", "inproc://shared", "shm://shared"] {
        let error = server(true).listen(&address.parse().unwrap()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no port"), "{text}");
        assert!(text.contains("Options::reuse_port"), "{text}");
    }
}
