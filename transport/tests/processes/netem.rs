//! TCP between two network namespaces: over a lossy line with delays, and over a line that is cut.
//!
//! The tests need root, `ip`, `tc` and the kernel modules behind them. If any of these is missing,
//! a test prints a note and passes.

use std::io::{BufRead, BufReader, IoSlice};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use crate::namespaces::{Hosts, run};
use jstream::buffer::MessageBuffer;
use jstream_transport::{Header, Options, RecvError, SendError, connect, listen};
use testing::LONG;
use testing::patterns::bytes;
use testing::process::role;
use testing::transport::checksum;

const NETWORK: &str = "10.213.0";
const SERVER: &str = "10.213.0.1";

/// The number of messages sent over the lossy line, and the maximum length in bytes.
const MESSAGES: u64 = 300;
const LONGEST: u64 = 40_000;

/// Two network namespaces joined by a line.
struct Line(Hosts);

impl Line {
    /// Returns the reason if the namespaces cannot be created.
    fn new() -> Result<Self, String> {
        Hosts::new(NETWORK).map(Self)
    }

    /// Adds loss and delay in both directions, or another `tc` queueing discipline.
    fn disturb(&self, how: &str) -> Result<(), String> {
        let mut names = self.0.names.iter();
        names.try_for_each(|name| run(&format!("tc -n {name} qdisc add dev line root {how}")))
    }

    fn cut(&self) {
        run(&format!("ip -n {} link set line down", self.0.names[0])).unwrap();
    }

    /// Starts this program in a namespace.
    fn spawn(&self, side: usize, role: &str) -> Running {
        let mut child = self
            .0
            .command(side, "netem::in_a_namespace", role)
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Running { child, said }
    }
}

/// A child process that is killed when it is dropped.
struct Running {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Running {
    /// Waits for a line of output that contains `word`, and returns the text after it.
    fn says(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "no {word}");
            // The test harness may have written the beginning of the line.
            if let Some((_, rest)) = line.split_once(word) {
                return rest.trim().into();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn skipped(why: &str) {
    println!("SKIPPED: {}", why.trim());
}

fn options() -> Options {
    let mut options = Options::default();
    options.connect_timeout = LONG;
    options.handshake_timeout = LONG;
    options.send_timeout = LONG;
    options.keepalive = Duration::from_secs(1);
    options
}

/// Returns options that lend jbufs to the system if the addresses permit it.
fn lending() -> Options {
    let mut options = options();
    options.uring_zero_copy = 1000;
    options
}

/// Returns a jbuf with the given bytes.
fn jbuf(options: &Options, bytes: &[u8]) -> MessageBuffer {
    options
        .pool
        .take(bytes.len())
        .unwrap()
        .copy_from(bytes)
        .unwrap()
}

fn length(number: u64) -> usize {
    usize::try_from(number.wrapping_mul(7919) % LONGEST).unwrap()
}

/// Entry point of the child processes in the namespaces.
#[test]
fn in_a_namespace() {
    let Some(role) = role() else {
        return;
    };
    let address = format!("tcp://{SERVER}:7000").parse().unwrap();
    let by_uring = format!("uring://{SERVER}:7000").parse().unwrap();
    match role.as_str() {
        "receive" => {
            let listener = listen(&address, &options()).unwrap();
            println!("listening");
            let endpoint = listener.accept().unwrap().establish().unwrap();
            let mut sum = 0u64;
            for number in 0..MESSAGES {
                let message = endpoint.recv_message_within(LONG).unwrap();
                assert_eq!(message.header.words[0], number);
                assert_eq!(message.payload.len(), length(number));
                sum = sum.wrapping_add(checksum(message.payload.as_bytes()));
            }
            let end = endpoint.recv_message_within(LONG).unwrap_err();
            assert!(matches!(end, RecvError::Closed { .. }), "{end}");
            println!("received {sum}");
        }
        "send" => {
            let endpoint = connect(&address, &options()).unwrap();
            let mut sum = 0u64;
            for number in 0..MESSAGES {
                let bytes = bytes(length(number), number);
                sum = sum.wrapping_add(checksum(&bytes));
                let segments = [IoSlice::new(&bytes)];
                let header = Header::new(1, [number, 0, 0]);
                endpoint.send_message(header, &segments).unwrap();
            }
            endpoint.finish().unwrap();
            println!("sent {sum}");
        }
        "lend" => {
            let options = lending();
            let endpoint = connect(&by_uring, &options).unwrap();
            assert_eq!(endpoint.info().degraded, Vec::<String>::new());
            let (mut sum, mut lent) = (0u64, 0);
            for number in 0..MESSAGES {
                let bytes = bytes(length(number), number);
                sum = sum.wrapping_add(checksum(&bytes));
                let header = Header::new(1, [number, 0, 0]);
                let ticket = endpoint.post_send(header, jbuf(&options, &bytes));
                lent += u32::from(ticket.wait().unwrap().is_none());
            }
            println!("lent {lent}");
            endpoint.finish().unwrap();
            println!("sent {sum}");
        }
        "lend until it is cut" => {
            let options = lending();
            let endpoint = connect(&by_uring, &options).unwrap();
            println!("connected");
            let bytes = bytes(1 << 20, 1);
            let unsent = loop {
                let sent = endpoint.send_buffer(Header::new(1, [0; 3]), jbuf(&options, &bytes));
                if let Err(unsent) = sent {
                    break unsent;
                }
            };
            let error = unsent.error;
            assert!(matches!(error, SendError::Lost { .. }), "{error}");
            assert!(unsent.filled.as_bytes() == bytes);
            drop((unsent.filled, endpoint));
            assert_eq!(options.pool.stats().in_use, 0, "jbufs are still lent");
            println!("ended {error}");
        }
        "take nothing" => {
            let listener = listen(&address, &options()).unwrap();
            println!("listening");
            let _endpoint = listener.accept().unwrap().establish().unwrap();
            thread::sleep(LONG);
        }
        // A client that only receives, and a client that sends until an error.
        "wait" | "push" => {
            let endpoint = connect(&address, &options()).unwrap();
            println!("connected");
            if role == "push" {
                let bytes = bytes(1 << 20, 1);
                let segments = [IoSlice::new(&bytes)];
                let error = loop {
                    let header = Header::new(1, [0; 3]);
                    if let Err(error) = endpoint.send_message(header, &segments) {
                        break error;
                    }
                };
                assert!(matches!(error, SendError::Lost { .. }), "{error}");
            }
            let error = endpoint.recv_message().unwrap_err();
            assert!(matches!(error, RecvError::Lost { .. }), "{error}");
            println!("ended {error}");
        }
        _ => panic!("unknown role {role}"),
    }
}

#[test]
fn nothing_is_lost_on_a_line_that_loses() {
    let line = match Line::new() {
        Ok(line) => line,
        Err(why) => return skipped(&why),
    };
    if let Err(why) = line.disturb("netem delay 3ms 2ms loss 2%") {
        skipped(&why);
        // A line with a short queue loses packets, too.
        if let Err(why) = line.disturb("tbf rate 50mbit burst 20kb limit 30kb") {
            return skipped(&why);
        }
        println!("instead, the line has a low rate and a short queue");
    }
    for role in ["send", "lend"] {
        let mut receiver = line.spawn(0, "receive");
        receiver.says("listening");
        let mut sender = line.spawn(1, role);
        if role == "lend" {
            let lent: u32 = sender.says("lent").parse().unwrap();
            println!("{lent} of {MESSAGES} were lent");
            assert!(lent > 0);
        }
        let sent = sender.says("sent");
        assert_eq!(receiver.says("received"), sent);
    }
    let statistics = ["-n", &line.0.names[1], "-s", "qdisc", "show", "dev", "line"];
    let statistics = Command::new("tc").args(statistics).output().unwrap();
    println!("{}", String::from_utf8_lossy(&statistics.stdout));
}

#[test]
fn a_line_that_is_cut_ends_what_is_pending() {
    // The lines are independent of each other.
    thread::scope(|scope| {
        for role in ["wait", "push", "lend until it is cut"] {
            scope.spawn(move || ends_when_cut(role));
        }
    });
}

fn ends_when_cut(role: &str) {
    let line = match Line::new() {
        Ok(line) => line,
        Err(why) => return skipped(&why),
    };
    let mut server = line.spawn(0, "take nothing");
    server.says("listening");
    let mut client = line.spawn(1, role);
    client.says("connected");
    // Usually long enough for the client to fill all buffers.
    thread::sleep(Duration::from_millis(500));
    line.cut();
    let cut = Instant::now();
    let error = client.says("ended");
    println!("{role}: ended {:?} after the cut: {error}", cut.elapsed());
}
