//! Tests of the acceptor with sockets.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::{Endpoint, connect, listen};
use jstream_base::{Address, ConnectError, Header, Options};

const LONG: Duration = Duration::from_secs(120);

fn patient() -> Options {
    let mut options = Options::new(jstream::buffer::Pool::default());
    options.handshake_timeout = LONG;
    options
}

fn limits(newcomers: usize) -> AcceptorLimits {
    let mut limits = AcceptorLimits::new(LONG);
    limits.newcomers = newcomers;
    limits
}

/// Opens an acceptor whose candidates are sent over a channel after they have sent a message.
fn open(limits: AcceptorLimits) -> (Acceptor, Address, mpsc::Receiver<Endpoint>) {
    let listener = listen(&"tcp://127.0.0.1:0".parse().unwrap(), &patient()).unwrap();
    let address = listener.local_address().clone();
    let (admit, admitted) = mpsc::channel();
    let greet = move |newcomer: Newcomer| {
        let admit = admit.clone();
        async move {
            let Ok(candidate) = newcomer.establish().await else {
                return;
            };
            if let Ok(message) = candidate.receive(8).await {
                assert_ne!(message.payload.as_bytes(), b"panic");
                let _ = candidate.send(Header::new(2, [0; 3]), b"welcome").await;
                let _ = admit.send(candidate.admit());
            }
        }
    };
    let acceptor = Acceptor::open("test", listener, limits, greet).unwrap();
    (acceptor, address, admitted)
}

fn stream(address: &Address) -> TcpStream {
    let uri = address.to_string();
    let stream = TcpStream::connect(uri.strip_prefix("tcp://").unwrap()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Returns true if the connection has been reset.
fn is_reset(stream: &mut TcpStream) -> bool {
    let error = stream.read(&mut [0; 1]).unwrap_err();
    error.kind() == io::ErrorKind::ConnectionReset
}

fn is_admitted(address: &Address, admitted: &mpsc::Receiver<Endpoint>) {
    let endpoint = connect(address, &patient()).unwrap();
    say(&endpoint, b"hello");
    let answer = endpoint.recv_message_within(LONG).unwrap();
    assert_eq!(answer.payload.as_bytes(), b"welcome");
    admitted.recv_timeout(LONG).unwrap();
}

fn say(endpoint: &Endpoint, words: &[u8]) {
    let sent = endpoint.send_message(Header::new(1, [0; 3]), &[io::IoSlice::new(words)]);
    sent.unwrap();
}

#[test]
fn the_oldest_silent_one_is_reset_at_once() {
    let limits = limits(4);
    let evicted = limits.evicted.clone();
    let (_acceptor, address, admitted) = open(limits);
    let mut silent: Vec<_> = (0..6).map(|_| stream(&address)).collect();
    assert!(is_reset(&mut silent[0]) && is_reset(&mut silent[1]));
    for _ in 0..3 {
        is_admitted(&address, &admitted);
    }
    assert!(is_reset(&mut silent[2]));
    // Each honest peer has left its place to the next one.
    assert_eq!(evicted.load(Ordering::Relaxed), 3);
    silent[5].set_nonblocking(true).unwrap();
    let error = silent[5].read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn who_has_greeted_stays_while_silent_ones_come_and_go() {
    let (_acceptor, address, admitted) = open(limits(4));
    let greeted = connect(&address, &patient()).unwrap();
    let mut silent: Vec<_> = (0..20).map(|_| stream(&address)).collect();
    assert!(is_reset(&mut silent[0]) && is_reset(&mut silent[16]));
    say(&greeted, b"hello");
    admitted.recv_timeout(LONG).unwrap();
}

#[test]
fn a_byte_at_a_time_does_not_prolong_the_handshake() {
    let mut limits = limits(4);
    limits.time = Duration::from_millis(300);
    let (_acceptor, address, _admitted) = open(limits);
    let mut slow = stream(&address);
    // The greeting is never complete.
    let begun = b"jstream\0";
    let ended = (0..3000).any(|at| {
        thread::sleep(Duration::from_millis(40));
        at >= 30 || slow.write_all(&begun[at % 8..=at % 8]).is_err()
    });
    assert!(ended && slow.write_all(b"more").is_err());
}

#[test]
fn a_panic_ends_one_handshake_only() {
    let (_acceptor, address, admitted) = open(limits(4));
    let endpoint = connect(&address, &patient()).unwrap();
    say(&endpoint, b"panic");
    endpoint.recv_message_within(LONG).unwrap_err();
    is_admitted(&address, &admitted);
}

#[test]
fn who_is_refused_learns_the_reason_without_anybody_waiting() {
    let listener = listen(&"tcp://127.0.0.1:0".parse().unwrap(), &patient()).unwrap();
    let address = listener.local_address().clone();
    let greet = |mut newcomer: Newcomer| async move {
        if newcomer.read_greeting().await.is_ok() {
            newcomer.refuse("not today").await;
        }
    };
    let acceptor = Acceptor::open("test", listener, limits(4), greet).unwrap();
    for _ in 0..20 {
        let error = connect(&address, &patient()).unwrap_err();
        assert!(
            matches!(&error, ConnectError::Refused { reason, .. } if reason == "not today"),
            "{error}"
        );
    }
    drop(acceptor);
    connect(&address, &patient()).unwrap_err();
}

#[test]
fn a_task_may_drop_the_acceptor() {
    let listener = listen(&"tcp://127.0.0.1:0".parse().unwrap(), &patient()).unwrap();
    let address = listener.local_address().clone();
    let (give, given) = mpsc::channel::<Acceptor>();
    let given = Arc::new(std::sync::Mutex::new(given));
    let (tell, told) = mpsc::channel();
    let greet = move |newcomer: Newcomer| {
        let (given, tell) = (given.clone(), tell.clone());
        async move {
            drop(newcomer);
            drop(given.lock().unwrap().recv_timeout(LONG).unwrap());
            tell.send(()).unwrap();
        }
    };
    give.send(Acceptor::open("test", listener, limits(4), greet).unwrap())
        .unwrap();
    let _silent = stream(&address);
    told.recv_timeout(LONG).unwrap();
}
