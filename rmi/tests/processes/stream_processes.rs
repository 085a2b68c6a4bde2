//! Streams between two real processes, also when one of them is killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::thread;

use jstream_rmi::{CallError, Client, Server, Stream, StreamError, remote};
use testing::process::{again, role};

#[remote]
trait Numbers {
    fn below(&self, most: u64) -> Stream<u64>;
    fn total(&self, numbers: Stream<u64>) -> u64;
    fn squares(&self, numbers: Stream<u64>) -> Stream<u64>;
}

struct Here;

impl Numbers for Here {
    fn below(&self, most: u64) -> Stream<u64> {
        Stream::of(0..most)
    }

    fn total(&self, numbers: Stream<u64>) -> u64 {
        numbers.map(|n| *n.unwrap().get()).sum()
    }

    fn squares(&self, numbers: Stream<u64>) -> Stream<u64> {
        let (sender, squares) = jstream_rmi::stream(16);
        thread::spawn(move || {
            for number in numbers.map_while(Result::ok) {
                if sender.send(number.get().pow(2)).wait().is_err() {
                    break;
                }
            }
        });
        squares
    }
}

struct ServerProcess {
    child: Child,
    client: Client,
}

impl ServerProcess {
    fn start(address: &str) -> Self {
        let mut child = again("stream_processes::server_process", address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address: String = lines
            .map(Result::unwrap)
            .find_map(|line| Some(line.split_once("listens at ")?.1.trim().to_owned()))
            .unwrap();
        let client = Client::connect(&address.parse().unwrap()).wait().unwrap();
        Self { child, client }
    }

    fn numbers(&self) -> NumbersStub {
        self.client.lookup::<dyn Numbers>("numbers").wait().unwrap()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The process may be gone already. The wait below reports that.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// Entry point of the server process, whose role is the address to listen at. In the test process
/// it does nothing.
#[test]
fn server_process() {
    let Some(address) = role() else {
        return;
    };
    let server = Server::default();
    server
        .bind::<dyn Numbers>("numbers", Arc::new(Here))
        .unwrap();
    let serving = server.listen(&address.parse().unwrap()).unwrap();
    println!("listens at {}", serving.address());
    std::io::stdout().flush().unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn addresses() -> [String; 2] {
    [
        "tcp://127.0.0.1:0".to_owned(),
        format!("shm://stream-processes-{}", std::process::id()),
    ]
}

#[test]
fn a_million_items_come_and_go() {
    for address in addresses() {
        let server = ServerProcess::start(&address);
        let numbers = server.numbers();
        let mut sum = 0;
        for number in numbers.below(1_000_000) {
            sum += number.unwrap().get();
        }
        assert_eq!(sum, 1_000_000 * 999_999 / 2);
        let total = numbers.total(Stream::of(0..1_000_000)).wait().unwrap();
        assert_eq!(*total.get(), sum);
        let last = numbers.squares(Stream::of(0..10_000)).last();
        assert_eq!(*last.unwrap().unwrap().get(), 9_999 * 9_999);
    }
}

#[test]
fn a_killed_server_is_no_end_of_a_stream() {
    for address in addresses() {
        let mut server = ServerProcess::start(&address);
        let numbers = server.numbers();
        let mut below = numbers.below(u64::MAX);
        assert_eq!(*below.next().wait().unwrap().unwrap().get(), 0);
        let (sender, stream) = jstream_rmi::stream(4);
        let total = numbers.total(stream);
        for n in 0..100 {
            sender.send(n).wait().unwrap();
        }
        server.child.kill().unwrap();
        let error = below.find_map(Result::err).unwrap();
        assert!(
            matches!(
                error,
                StreamError::Call(CallError::Lost { .. }) | StreamError::Lost { .. }
            ),
            "{error}"
        );
        while sender.send(0).wait().is_ok() {}
        let error = total.wait().unwrap_err();
        assert!(matches!(error, CallError::Lost { .. }), "{error}");
    }
}
