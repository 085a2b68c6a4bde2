//! Servers of `jperf serve`, and clients that misbehave.

use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use jstream_transport::{Endpoint, Header, Message, Options, connect};
use rustix::process::Signal;

use super::common::{Server, failed, program, rows};

/// The kinds of the messages between the programs.
const HELLO: u32 = 0x6a70_6600;
const WELCOME: u32 = HELLO + 1;
const BEGIN: u32 = HELLO + 2;
const READY: u32 = HELLO + 3;
const REFUSED: u32 = HELLO + 4;
const DATA: u32 = HELLO + 5;
const WRONG: u32 = HELLO + 8;
/// The flag of a ping-pong whose payloads are compared.
const CHECKED: u64 = 1 << 24;

const LONG: Duration = Duration::from_secs(60);

fn names() -> [String; 3] {
    let id = std::process::id();
    [
        "tcp://127.0.0.1:0".to_owned(),
        format!("shm://jperf-test-{id}"),
        format!("uds://@jperf-test-{id}"),
    ]
}

/// Runs a short measurement, which succeeds if the server works.
#[track_caller]
fn works(address: &str) {
    let rows = rows(&["run", address, "--size", "8,10K", "-n", "20", "--check"]);
    assert_eq!(rows.len(), 2);
}

/// Connects a client that has completed the greeting.
fn client(address: &str) -> Endpoint {
    let endpoint = connect(&address.parse().unwrap(), &Options::default()).unwrap();
    tell(&endpoint, HELLO, [1, 0, 0]);
    assert_eq!(hear(&endpoint).header.kind, WELCOME);
    endpoint
}

fn tell(endpoint: &Endpoint, kind: u32, words: [u64; 3]) {
    endpoint
        .send_message(Header::new(kind, words), &[])
        .unwrap();
}

fn hear(endpoint: &Endpoint) -> Message {
    endpoint.recv_message_within(LONG).unwrap()
}

#[test]
fn several_addresses_until_a_signal() {
    let names = names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start(&names, &[]);
        assert!(!server.address().ends_with(":0"), "{}", server.address());
        assert_eq!(server.addresses[1..], names[1..]);
        for address in &server.addresses {
            works(address);
        }
        let idle = client(server.address());
        server.signal(signal);
        let said = server.end();
        assert_eq!(said.matches("has connected").count(), 4, "{said}");
        assert!(idle.recv_message_within(LONG).is_err());
    }
}

#[test]
fn once_is_until_the_last_one_has_gone() {
    let server = Server::start(&["tcp://127.0.0.1:0"], &["--once", "--quiet"]);
    let rows = rows(&["run", server.address(), "-c", "3", "-n", "20"]);
    assert_eq!(rows[0]["connections"], 3);
    assert_eq!(server.end(), "");
}

#[test]
fn a_client_that_is_killed_harms_nobody() {
    let names = names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let names = [
        names[0],
        &format!("{}-killed", names[1]),
        &format!("{}-killed", names[2]),
    ];
    let server = Server::start(&names, &[]);
    for address in &server.addresses {
        for op in ["pingpong", "bandwidth", "tags"] {
            let mut killed = program(&["run", address, "--op", op, "-t", "60", "--size", "64K"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_millis(300));
            assert_eq!(
                killed.try_wait().unwrap(),
                None,
                "the program ended before it was killed"
            );
            killed.kill().unwrap();
            killed.wait().unwrap();
            works(address);
        }
    }
    server.signal(Signal::TERM);
    let said = server.end();
    assert_eq!(said.matches("has connected").count(), 18, "{said}");
}

#[test]
fn garbage_harms_nobody() {
    let server = Server::start(&["tcp://127.0.0.1:0"], &["--idle", "2s"]);
    let bare = server.address().strip_prefix("tcp://").unwrap();
    // Peers that send no valid greeting.
    let mut streams = Vec::new();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 4096], &[]] {
        let mut stream = TcpStream::connect(bare).unwrap();
        stream.write_all(garbage).unwrap();
        streams.push(stream);
    }
    works(server.address());
    // Unknown messages, at each point of the protocol.
    for kind in [0, DATA, REFUSED, u32::MAX] {
        let endpoint = connect(&server.address().parse().unwrap(), &Options::default()).unwrap();
        tell(&endpoint, kind, [u64::MAX; 3]);
        assert!(
            endpoint.recv_message_within(LONG).is_err(),
            "the connection did not end"
        );
        let endpoint = client(server.address());
        tell(&endpoint, kind, [u64::MAX; 3]);
        assert!(
            endpoint.recv_message_within(LONG).is_err(),
            "the connection did not end"
        );
        let endpoint = client(server.address());
        tell(&endpoint, BEGIN, [0, 8, 1]);
        assert_eq!(hear(&endpoint).header.kind, READY);
        if kind != DATA {
            tell(&endpoint, kind, [u64::MAX; 3]);
            assert!(
                endpoint.recv_message_within(LONG).is_err(),
                "the connection did not end"
            );
        }
    }
    // A silent client is disconnected after a while.
    let silent = client(server.address());
    assert!(silent.recv_message_within(LONG).is_err());
    works(server.address());
    drop(streams);
    server.signal(Signal::TERM);
    let said = server.end();
    assert!(said.contains("; is the other side jperf?"), "{said}");
    assert!(!said.contains('\x1b'));
}

#[test]
fn who_stays_too_long_is_ended() {
    let server = Server::start(&["tcp://127.0.0.1:0"], &["--max-time", "1s"]);
    // The server waits for messages of a rank, without a timeout of its own.
    let silent = client(server.address());
    tell(&silent, BEGIN, [5, 8, 1]);
    assert_eq!(hear(&silent).header.kind, READY);
    // A rank announces its bounds first.
    assert_eq!(hear(&silent).header.kind, 0x6a73_7209);
    assert!(silent.recv_message_within(LONG).is_err());
    works(server.address());
    server.signal(Signal::TERM);
    server.end();
}

#[test]
fn what_is_too_much_is_refused() {
    let limits = [
        "--max-size",
        "1M",
        "--max-memory",
        "4M",
        "--max-clients",
        "2",
    ];
    let server = Server::start(&["tcp://127.0.0.1:0"], &limits);
    let address = server.address();
    let why = failed(1, &["run", address, "--size", "2M"]);
    assert!(
        why.contains("the server refuses: ") && why.contains("--max-size"),
        "{why}"
    );
    let why = failed(1, &["run", address, "--size", "1M", "--cold"]);
    assert!(why.contains("--max-memory"), "{why}");
    let endpoint = client(address);
    for words in [
        [0, u64::MAX, 1],
        [0, 1 << 20, u64::MAX],
        [0xff, 8, 1],
        [u64::MAX; 3],
    ] {
        tell(&endpoint, BEGIN, words);
        assert_eq!(hear(&endpoint).header.kind, REFUSED, "{words:?}");
    }
    // The client may still make valid requests, and other clients get the rest of the memory.
    tell(&endpoint, BEGIN, [0, 1 << 20, 1]);
    assert_eq!(hear(&endpoint).header.kind, READY);
    let other = client(address);
    tell(&other, BEGIN, [0, 1 << 20, 1]);
    assert_eq!(hear(&other).header.kind, READY);
    let why = failed(1, &["run", address]);
    assert!(why.contains("the server has too many clients"), "{why}");
    drop((endpoint, other));
    server.signal(Signal::TERM);
    server.end();
}

#[test]
fn another_payload_than_was_sent_is_told() {
    for address in names() {
        let address = address.replace("-test-", "-payload-");
        let server = Server::start(&[&address], &[]);
        let endpoint = client(server.address());
        for length in [8, 100] {
            let endpoint = if length == 8 {
                &endpoint
            } else {
                &client(server.address())
            };
            tell(endpoint, BEGIN, [CHECKED, 100, 1]);
            assert_eq!(hear(endpoint).header.kind, READY);
            let payload = vec![7; length];
            let payload = [std::io::IoSlice::new(&payload)];
            endpoint
                .send_message(Header::new(DATA, [1, 0, 0]), &payload)
                .unwrap();
            let wrong = hear(endpoint).header;
            assert_eq!((wrong.kind, wrong.words[0]), (WRONG, 1));
            assert!(
                endpoint.recv_message_within(LONG).is_err(),
                "the connection did not end"
            );
        }
        server.signal(Signal::TERM);
        let said = server.end();
        assert_eq!(
            said.matches("message 1 differs from what was sent").count(),
            2,
            "{said}"
        );
    }
}
