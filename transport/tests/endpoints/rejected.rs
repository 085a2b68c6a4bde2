//! Peers that break the protocol and go on sending: they are told that the connection has ended,
//! although the endpoint still exists.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jstream_transport::{CompletionQueue, Endpoint, Options, Outcome, RecvError, listen};
use testing::LONG;
use testing::transport::fresh;

/// A bare socket.
trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

const LIMIT: u64 = 1000;

fn hello() -> [u8; 32] {
    let mut hello = [0; 32];
    hello[..8].copy_from_slice(b"jstream\0");
    hello[8..12].copy_from_slice(&2u32.to_le_bytes());
    hello[12..14].copy_from_slice(&0x0102u16.to_ne_bytes());
    hello[14] = 64;
    hello[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    hello
}

/// Returns a header with an operation and a length.
fn header(op: u32, length: u64) -> [u8; 40] {
    let mut header = [0; 40];
    header[4..8].copy_from_slice(&op.to_le_bytes());
    header[32..].copy_from_slice(&length.to_le_bytes());
    header
}

/// Returns a bare socket that has completed the handshake, with a write timeout, and the endpoint
/// at its other end.
fn receiving(scheme: &str) -> (Box<dyn Stream>, Endpoint) {
    let mut options = Options::default();
    options.max_message = LIMIT;
    options.handshake_timeout = LONG;
    let listener = listen(&fresh(scheme), &options).unwrap();
    let uri = listener.local_address().to_string();
    let (_, at) = uri.split_once("://").unwrap();
    let mut stream: Box<dyn Stream> = if scheme == "uds" {
        let name = at.strip_prefix('@').unwrap();
        let at = SocketAddr::from_abstract_name(name).unwrap();
        let stream = UnixStream::connect_addr(&at).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        Box::new(stream)
    } else {
        let stream = TcpStream::connect(at).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        Box::new(stream)
    };
    stream.write_all(&hello()).unwrap();
    let endpoint = listener.accept().unwrap().establish().unwrap();
    stream.read_exact(&mut [0; 40]).unwrap();
    (stream, endpoint)
}

/// Sends `first`, and then arbitrary bytes, until an error. Returns the error, and counts the bytes
/// in `sent`.
fn flood(mut stream: Box<dyn Stream>, first: &[u8], sent: &AtomicUsize) -> ErrorKind {
    if let Err(error) = stream.write_all(first) {
        return error.kind();
    }
    loop {
        match stream.write(&[7; 10_000]) {
            Ok(n) => drop(sent.fetch_add(n, Ordering::Relaxed)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind(),
        }
    }
}

/// Waits until a flood has filled all buffers of the system.
fn until_stuck(sent: &AtomicUsize) {
    let mut before = 0;
    loop {
        thread::sleep(Duration::from_millis(50));
        let now = sent.load(Ordering::Relaxed);
        if now > 0 && now == before {
            return;
        }
        before = now;
    }
}

fn by_call(endpoint: &Endpoint) -> RecvError {
    endpoint.recv_message_within(LONG).unwrap_err()
}

fn by_queue(endpoint: &Endpoint) -> RecvError {
    let queue = CompletionQueue::new().unwrap();
    queue.post_recv(endpoint, 1, None);
    match queue.wait(LONG).unwrap().outcome {
        Outcome::Received(received) => received.unwrap_err().error,
        other => panic!("{other:?}"),
    }
}

/// Returns invalid headers: an unknown operation, an answer without a request, and a length above
/// the limit.
fn wrong() -> [[u8; 40]; 3] {
    [header(77, 0), header(2, 0), header(0, LIMIT + 1)]
}

/// A peer that stops sending after an invalid header sees a reset, not a clean end of the
/// connection.
fn is_reset(scheme: &str) {
    for first in wrong() {
        let (mut stream, endpoint) = receiving(scheme);
        stream.write_all(&first).unwrap();
        by_call(&endpoint);
        let error = stream.read(&mut [0; 100]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}

fn all_kinds(scheme: &str) {
    let ways: [fn(&Endpoint) -> RecvError; 2] = [by_call, by_queue];
    for first in wrong() {
        for receive in ways {
            for stuck in [true, false] {
                let (stream, endpoint) = receiving(scheme);
                let sent = Arc::new(AtomicUsize::new(0));
                let its = sent.clone();
                let flooding = thread::spawn(move || flood(stream, &first, &its));
                if stuck {
                    until_stuck(&sent);
                }
                let error = receive(&endpoint);
                assert!(
                    matches!(
                        error,
                        RecvError::Malformed { .. } | RecvError::TooLarge { .. }
                    ),
                    "{error}"
                );
                let kind = flooding.join().unwrap();
                let ended = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
                assert!(ended.contains(&kind), "{kind:?}");
                // Later calls return the same error, and sends fail.
                let again = endpoint.recv_message().unwrap_err();
                assert_eq!(
                    std::mem::discriminant(&again),
                    std::mem::discriminant(&error)
                );
                let header = jstream_transport::Header::new(1, [0; 3]);
                endpoint.send_message(header, &[]).unwrap_err();
            }
        }
    }
}

#[test]
fn over_tcp() {
    all_kinds("tcp");
    is_reset("tcp");
}

#[test]
fn over_uds() {
    all_kinds("uds");
}

#[test]
fn over_uring() {
    all_kinds("uring");
    is_reset("uring");
}
