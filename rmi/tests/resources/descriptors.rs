//! A server that runs out of file descriptors slows down, and recovers when descriptors are
//! available again.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::{Client, Server, ServerOptions, remote};
use rustix::process::{Resource, getrlimit, setrlimit};
use testing::process::alone;

#[remote]
trait Sum {
    fn add(&self, a: u64, b: u64) -> u64;
}

struct Plain;

impl Sum for Plain {
    fn add(&self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
}

#[test]
fn a_server_outlives_having_no_descriptors() {
    alone(|| {
        let mut options = ServerOptions::default();
        options.max_connections = 10_000;
        options.max_greeting = 10_000;
        options.transport.handshake_timeout = Duration::from_secs(3);
        let server = Server::new(options);
        server.bind::<dyn Sum>("sum", Arc::new(Plain)).unwrap();
        let serving = server
            .listen(&"tcp://127.0.0.1:0".parse().unwrap())
            .unwrap();
        let client = Client::connect(serving.address()).wait().unwrap();
        let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
        let uri = serving.address().to_string();
        let address = uri.strip_prefix("tcp://").unwrap();

        let before = getrlimit(Resource::Nofile);
        let mut few = before;
        few.current = Some(64);
        setrlimit(Resource::Nofile, few).unwrap();
        // Connects until neither side gets a descriptor. Connections that wait to be accepted have
        // none on the server side yet.
        let silent: Vec<_> = std::iter::from_fn(|| TcpStream::connect(address).ok()).collect();
        assert!(silent.len() > 10, "{}", silent.len());
        for n in 0..100 {
            assert_eq!(*sum.add(n, 1).wait().unwrap().get(), n + 1);
            thread::sleep(Duration::from_millis(1));
        }
        setrlimit(Resource::Nofile, before).unwrap();
        drop(silent);
        let another = loop {
            match Client::connect(serving.address()).wait() {
                Ok(client) => break client,
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        };
        let other = another.lookup::<dyn Sum>("sum").wait().unwrap();
        assert_eq!(*other.add(1, 2).wait().unwrap().get(), 3);
        assert_eq!(*sum.add(3, 4).wait().unwrap().get(), 7);
    });
}
