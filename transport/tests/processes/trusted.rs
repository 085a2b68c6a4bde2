//! Processes that trust each other, and read messages in shared memory without a copy.

use std::env;
use std::io::IoSlice;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use jstream::buffer::{MessageBuffer, Pool};
use jstream_transport::{
    Address, Endpoint, Header, Listener, Options, RecvError, SendError, connect, listen,
};
use testing::process::{again, role};

const NAME: &str = "JSTREAM_TRUSTED_NAME";

struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn spawn(role: &str, address: &Address) -> Other {
    let child = again("trusted::part", role)
        .env(NAME, address.to_string())
        .stdout(Stdio::piped())
        .spawn();
    Other(child.unwrap())
}

fn trusting() -> Options {
    // SAFETY: the names of these tests are used only by processes of this program.
    unsafe { Options::new(Pool::default()).trust_peer() }
}

fn bound() -> Listener {
    listen_with(&trusting())
}

fn listen_with(options: &Options) -> Listener {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("trusted-{}-{number}", std::process::id());
    listen(&Address::shm(&name).unwrap(), options).unwrap()
}

fn accept(listener: &Listener) -> Endpoint {
    listener.accept().unwrap().establish().unwrap()
}

/// Starts a process in the given role. Returns the endpoint that is connected to it, and the
/// process.
fn with(role: &str) -> (Endpoint, Other) {
    let listener = bound();
    let other = spawn(role, listener.local_address());
    let endpoint = accept(&listener);
    assert_eq!(endpoint.info().degraded, Vec::<String>::new());
    (endpoint, other)
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length)
        .map(|n| ((n * 31) ^ (n >> 8) ^ seed) as u8)
        .collect()
}

/// Returns true if the value lies in memory that is shared with the other process.
fn is_shared<T>(value: &[T]) -> bool {
    is_mapped(value.as_ptr().addr(), size_of_val(value))
}

fn is_mapped(at: usize, length: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines()
        .filter(|line| line.contains("memfd:jstream-shm"))
        .any(|line| {
            let (range, _) = line.split_once(' ').unwrap();
            let (start, end) = range.split_once('-').unwrap();
            let ends = [start, end].map(|at| usize::from_str_radix(at, 16).unwrap());
            ends[0] <= at && at + length <= ends[1]
        })
}

fn filled(endpoint: &Endpoint, bytes: &[u8]) -> MessageBuffer {
    let empty = endpoint.take(bytes.len()).unwrap();
    empty.copy_from(bytes).unwrap()
}

fn numbers(count: u64) -> Vec<(u64, String)> {
    (0..count).map(|n| (n, format!("number {n}"))).collect()
}

/// Entry point of the child processes. In the parent process it does nothing.
#[test]
fn part() {
    let (Some(role), Ok(name)) = (role(), env::var(NAME)) else {
        return;
    };
    let address = name.parse().unwrap();
    let options = if role == "wary" {
        Options::default()
    } else {
        trusting()
    };
    let endpoint = connect(&address, &options).unwrap();
    match role.as_str() {
        "echo" => echo(&endpoint, true),
        "wary" => echo(&endpoint, false),
        "objects" => loop {
            let Ok(received) = endpoint.recv::<Vec<(u64, String)>>() else {
                return;
            };
            let places: Vec<_> = received.get().iter().collect();
            assert!(is_shared(received.get()) && places.len() == 1000);
            endpoint.send(&numbers(1000)).unwrap();
        },
        "holder" => hold(&endpoint),
        "dier" => {
            endpoint
                .send_buffer(Header::tagged(1), filled(&endpoint, &pattern(1 << 20, 3)))
                .unwrap();
            endpoint.recv_message().unwrap();
        }
        _ => panic!("unknown role {role}"),
    }
}

/// Reverses each message in place and sends it back, as a jbuf or as borrowed bytes.
fn echo(endpoint: &Endpoint, trusted: bool) {
    loop {
        let mut message = match endpoint.recv_message() {
            Ok(message) => message,
            Err(RecvError::Closed { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let bytes = message.payload.as_bytes_mut();
        assert_eq!(is_shared(bytes), trusted && bytes.len() >= 2 << 10);
        bytes.reverse();
        if message.header.tag() % 2 == 0 {
            endpoint
                .send_buffer(message.header, message.payload)
                .unwrap();
        } else {
            let parts = [IoSlice::new(message.payload.as_bytes())];
            endpoint.send_message(message.header, &parts).unwrap();
        }
    }
}

#[test]
fn messages_stand_where_the_other_process_left_them() {
    let (endpoint, mut other) = with("echo");
    let lengths = [0, 1, 100, 2047, 2048, 5000, 64 << 10, 1 << 20, 3 << 20];
    for (n, length) in lengths.into_iter().enumerate() {
        for way in 0..4 {
            let mut bytes = pattern(length, n);
            let header = Header::tagged((n + way) as u64);
            if way < 2 {
                let (front, back) = bytes.split_at(length / 3);
                let parts = [front, &[], back].map(IoSlice::new);
                endpoint.send_message(header, &parts).unwrap();
            } else if length >= 2048 {
                let message = filled(&endpoint, &bytes);
                assert!(is_shared(message.as_bytes()));
                endpoint.send_buffer(header, message).unwrap();
            } else {
                let message = endpoint.take(length).unwrap().copy_from(&bytes).unwrap();
                // A short message could be left in place too, but the peer asserts that none is.
                let parts = [IoSlice::new(message.as_bytes())];
                endpoint.send_message(header, &parts).unwrap();
            }
            let message = endpoint.recv_message().unwrap();
            bytes.reverse();
            assert_eq!(message.header.tag(), header.tag());
            assert!(message.payload.as_bytes() == bytes, "{length} bytes");
            assert_eq!(is_shared(message.payload.as_bytes()), length >= 2048);
        }
    }
    endpoint.finish().unwrap();
    assert!(matches!(
        endpoint.recv_message(),
        Err(RecvError::Closed { .. })
    ));
    drop(endpoint);
    assert!(other.0.wait().unwrap().success());
}

#[test]
fn objects_are_read_where_the_other_process_wrote_them() {
    let (endpoint, mut other) = with("objects");
    for _ in 0..3 {
        endpoint.send(&numbers(1000)).unwrap();
        let received = endpoint.recv::<Vec<(u64, String)>>().unwrap();
        assert!(is_shared(received.get()));
        for (n, (number, text)) in received.get().iter().enumerate() {
            assert_eq!((*number, *text), (n as u64, &*format!("number {n}")));
            assert!(is_shared(text.as_bytes()));
        }
    }
    let ticket = endpoint.post_send_object(0, &numbers(1000)).unwrap();
    // The jbuf has moved to the other process.
    assert!(ticket.wait().unwrap().is_none());
    assert!(is_shared(
        endpoint.recv::<Vec<(u64, String)>>().unwrap().get()
    ));
    drop(endpoint);
    assert!(other.0.wait().unwrap().success());
}

#[test]
fn a_peer_that_was_not_asked_to_is_not_trusted() {
    let listener = bound();
    let mut other = spawn("wary", listener.local_address());
    let endpoint = accept(&listener);
    assert!(endpoint.info().degraded[0].contains("does not trust"));
    let bytes = pattern(100_000, 1);
    let message = filled(&endpoint, &bytes);
    assert!(!is_shared(message.as_bytes()));
    endpoint.send_buffer(Header::tagged(1), message).unwrap();
    let message = endpoint.recv_message().unwrap();
    assert!(message.payload.as_bytes().iter().rev().eq(&bytes));
    drop(endpoint);
    assert!(other.0.wait().unwrap().success());
}

/// Keeps all messages. When it is told to, checks and releases them.
fn hold(endpoint: &Endpoint) {
    let mut held = Vec::new();
    loop {
        let Ok(message) = endpoint.recv_message() else {
            return;
        };
        match message.header.tag() {
            0 => {
                let shared = held
                    .iter()
                    .filter(|held: &&MessageBuffer| is_shared(held.as_bytes()));
                let count = shared.count() as u64;
                for (n, held) in held.drain(..).enumerate() {
                    let held: MessageBuffer = held;
                    assert!(held.as_bytes() == pattern(held.len(), n));
                }
                endpoint.send(&count).unwrap();
            }
            _ => held.push(message.payload),
        }
    }
}

#[test]
fn when_the_other_process_holds_on_to_everything_messages_are_copied() {
    let mut options = trusting();
    options.outbox_bytes = 1 << 20;
    let listener = listen_with(&options);
    let _other = spawn("holder", listener.local_address());
    let endpoint = accept(&listener);
    for _ in 0..3 {
        for n in 0..24 {
            let bytes = pattern(64 << 10, n);
            if n % 2 == 0 {
                let message = filled(&endpoint, &bytes);
                assert_eq!(is_shared(message.as_bytes()), n < 16);
                endpoint.send_buffer(Header::tagged(1), message).unwrap();
            } else {
                let parts = [IoSlice::new(&bytes)];
                endpoint.send_message(Header::tagged(1), &parts).unwrap();
            }
        }
        endpoint.send_message(Header::tagged(0), &[]).unwrap();
        assert_eq!(*endpoint.recv::<u64>().unwrap().get(), 16);
    }
    // More short messages than there are slots.
    for n in 0..600 {
        let message = filled(&endpoint, &pattern(1000, n));
        endpoint.send_buffer(Header::tagged(1), message).unwrap();
    }
    endpoint.send_message(Header::tagged(0), &[]).unwrap();
    assert_eq!(*endpoint.recv::<u64>().unwrap().get(), 512);
}

#[test]
fn what_a_killed_process_held_is_gone_with_the_connection() {
    let (endpoint, other) = with("holder");
    for n in 0..8 {
        let message = filled(&endpoint, &pattern(64 << 10, n));
        endpoint.send_buffer(Header::tagged(1), message).unwrap();
    }
    let kept = filled(&endpoint, &pattern(5000, 1));
    let unsent = filled(&endpoint, &pattern(5000, 2));
    drop(other);
    assert!(matches!(
        endpoint.recv_message(),
        Err(RecvError::Lost { .. })
    ));
    let unsent = endpoint.send_buffer(Header::tagged(1), unsent).unwrap_err();
    assert!(matches!(
        unsent.error,
        SendError::Lost { .. } | SendError::Closed { .. }
    ));
    assert!(unsent.filled.as_bytes() == pattern(5000, 2));
    drop((endpoint, unsent));
    // The memory stays mapped as long as a jbuf of it exists.
    assert!(is_shared(kept.as_bytes()));
    assert!(kept.as_bytes() == pattern(5000, 1));
    let at = kept.as_bytes().as_ptr().addr();
    drop(kept);
    assert!(!is_mapped(at, 1));
}

#[test]
fn what_a_killed_process_had_sent_can_still_be_read() {
    let (endpoint, other) = with("dier");
    let message = endpoint.recv_message().unwrap();
    drop(other);
    assert!(endpoint.recv_message().is_err());
    drop(endpoint);
    assert!(is_shared(message.payload.as_bytes()));
    assert!(message.payload.as_bytes() == pattern(1 << 20, 3));
}

#[test]
fn each_block_is_free_again_once() {
    let (endpoint, _other) = with("echo");
    let mut places = Vec::new();
    for n in 0..300 {
        let message = filled(&endpoint, &pattern(4096, n));
        places.push(message.as_bytes().as_ptr().addr());
        endpoint.send_buffer(Header::tagged(1), message).unwrap();
        let message = endpoint.recv_message().unwrap();
        assert!(
            message
                .payload
                .as_bytes()
                .iter()
                .rev()
                .eq(&pattern(4096, n))
        );
        // While the message is held, no other jbuf gets the same memory.
        let taken: Vec<_> = (0..3).map(|_| endpoint.take(4096).unwrap()).collect();
        drop(taken);
    }
    places.sort_unstable();
    places.dedup();
    // Blocks are reused: the other process holds at most two of them when the next one is taken.
    assert!(places.len() < 16, "{} blocks", places.len());
}
