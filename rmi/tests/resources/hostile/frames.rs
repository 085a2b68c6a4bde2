//! Frames that no peer of this version sends, and frames that never end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use testing::process::alone;

use super::{CANCEL, HELLO, OBJECT, REQUEST, Scene, lookup, table, until};

const LONG: Duration = Duration::from_secs(60);

/// Returns the greeting of the transport.
fn greeting() -> [u8; 32] {
    let mut hello = [0; 32];
    hello[..8].copy_from_slice(b"jstream\0");
    hello[8] = 2;
    hello[12..14].copy_from_slice(&0x0102u16.to_ne_bytes());
    hello[14] = u8::try_from(usize::BITS).unwrap();
    hello[16..24].copy_from_slice(&(64u64 << 20).to_le_bytes());
    hello
}

pub(super) fn frame(kind: u32, words: [u64; 3], length: u64) -> [u8; 40] {
    let mut header = [0; 40];
    header[..4].copy_from_slice(&kind.to_le_bytes());
    for (place, word) in header[8..32].chunks_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    header[32..].copy_from_slice(&length.to_le_bytes());
    header
}

fn socket(scene: &Scene) -> TcpStream {
    let uri = scene.serving.address().to_string();
    let stream = TcpStream::connect(uri.strip_prefix("tcp://").unwrap()).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Returns a connection that has completed the handshake and may call.
pub(super) fn joined(scene: &Scene) -> TcpStream {
    let mut stream = joined_unread(scene);
    skip(&mut stream);
    stream
}

/// As [`joined`], but the handler table of the server is unread.
pub(super) fn joined_unread(scene: &Scene) -> TcpStream {
    let mut stream = socket(scene);
    stream.write_all(&greeting()).unwrap();
    stream.read_exact(&mut [0; 40]).unwrap();
    let table = table();
    let hello = frame(HELLO, [1, 1000, 1 << 30], table.len() as u64);
    stream.write_all(&[&hello[..], &table].concat()).unwrap();
    stream.peek(&mut [0]).unwrap();
    stream
}

/// Reads and discards a frame.
fn skip(stream: &mut TcpStream) {
    let mut theirs = [0; 40];
    stream.read_exact(&mut theirs).unwrap();
    let length = u64::from_le_bytes(*theirs.last_chunk().unwrap());
    let mut rest = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut rest).unwrap();
}

/// Checks that the server closes the connection.
pub(super) fn assert_ended(mut stream: &TcpStream) {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "still open"),
    }
}

/// Returns the resident memory of the process, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn case_1_the_largest_length_then_silence() {
    alone(|| {
        let scene = Scene::new("tcp", |options| {
            options.transport.message_timeout = Duration::from_millis(500);
        });
        let before = resident();
        let silent: Vec<_> = (0..8)
            .map(|_| {
                let mut stream = joined(&scene);
                let request = frame(REQUEST, [1, OBJECT, 0], 64 << 20);
                stream.write_all(&request).unwrap();
                stream
            })
            .collect();
        scene.assert_serves();
        let grown = resident().saturating_sub(before);
        assert!(
            grown < 32 << 20,
            "{grown} bytes for {} headers",
            silent.len()
        );
        silent.iter().for_each(assert_ended);
        drop(silent);
        scene.assert_recovers();
    });
}

#[test]
fn case_2_lengths_at_the_limits() {
    alone(|| {
        let scene = Scene::new("tcp", |_| {});
        for length in [
            (64 << 20) + 1,
            u64::from(u32::MAX),
            1 << 32,
            u64::MAX - 39,
            u64::MAX - 1,
            u64::MAX,
        ] {
            let mut stream = joined(&scene);
            stream
                .write_all(&frame(REQUEST, [1, OBJECT, 0], length))
                .unwrap();
            assert_ended(&stream);
            scene.assert_holds_at_most(4 << 20);
        }
        // A request without a payload has no valid arguments.
        let mut stream = joined(&scene);
        let lookup = lookup();
        let asks = frame(REQUEST, [1, 0, 0], lookup.len() as u64);
        stream.write_all(&[&asks[..], &lookup].concat()).unwrap();
        skip(&mut stream);
        stream
            .write_all(&frame(REQUEST, [1, OBJECT, 0], 0))
            .unwrap();
        let mut answer = [0; 40];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer[16], 3, "{answer:?}");
        drop(stream);
        scene.assert_serves();
        scene.assert_recovers();
    });
}

fn trickle(mut stream: &TcpStream, bytes: &[u8]) {
    for byte in bytes {
        std::thread::sleep(Duration::from_millis(50));
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
    }
}

#[test]
fn case_3_a_byte_at_a_time() {
    alone(|| {
        let scene = Scene::new("tcp", |options| {
            // Long enough for peers that do not trickle.
            options.transport.handshake_timeout = Duration::from_secs(1);
            options.messages.handshake_timeout = Duration::from_secs(1);
            options.transport.message_timeout = Duration::from_secs(1);
            options.first_call_timeout = Duration::from_millis(1500);
        });
        // Peers that trickle the greeting, the handler table, a header and a payload.
        let greets = socket(&scene);
        let mut tells = socket(&scene);
        tells.write_all(&greeting()).unwrap();
        let heads = joined(&scene);
        let mut pays = joined(&scene);
        let request = frame(REQUEST, [1, OBJECT, 0], 1000);
        pays.write_all(&request).unwrap();
        let silent = joined(&scene);
        std::thread::scope(|scope| {
            scope.spawn(|| trickle(&greets, &greeting()));
            scope.spawn(|| trickle(&tells, &frame(HELLO, [1, 1000, 1 << 30], 1000)));
            scope.spawn(|| trickle(&heads, &request));
            scope.spawn(|| trickle(&pays, &[0; 40]));
            scene.assert_serves();
            for stream in [&greets, &tells, &heads, &pays, &silent] {
                assert_ended(stream);
            }
        });
        drop((greets, tells, heads, pays, silent));
        scene.assert_recovers();
    });
}

#[test]
fn case_20_half_open_idle_and_broken_connections() {
    alone(|| {
        let scene = Scene::new("tcp", |options| options.max_connections = 200);
        let idle: Vec<_> = (0..100).map(|_| joined(&scene)).collect();
        scene.assert_serves();
        // The memory of both sides of a connection, without the sockets.
        scene.assert_holds_at_most(100 * (64 << 10));
        for (at, mut stream) in idle.into_iter().enumerate() {
            let request = frame(REQUEST, [1, OBJECT, 0], 1 << 20);
            stream.write_all(&request[..at % 40]).unwrap();
            if at % 3 == 0 {
                stream.shutdown(std::net::Shutdown::Write).unwrap();
            }
            if at % 2 == 0 {
                // Some data of the server is unread, so closing the socket sends a reset.
                let _ = stream.write_all(&[0; 100]);
            }
        }
        scene.assert_serves();
        scene.assert_recovers();
    });
}

#[test]
fn case_24_greetings_that_do_not_fit() {
    alone(|| {
        let scene = Scene::new("tcp", |_| {});
        for (place, value) in [
            (0, b'J'),
            (7, 1),
            (8, 99),
            (12, 9),
            (13, 9),
            (14, 16),
            (14, 32),
        ] {
            let mut greeting = greeting();
            greeting[place] = value;
            let mut stream = socket(&scene);
            stream.write_all(&greeting).unwrap();
            assert_ended(&stream);
        }
        for (kind, words, table) in [
            (HELLO, [9, 1000, 1 << 30], table()),
            (HELLO, [1, 0, 1 << 30], table()),
            (HELLO, [1, 1000, 0], table()),
            (HELLO, [1, 1000, 1 << 30], vec![0xff; 1000]),
            (HELLO, [1, 1000, 1 << 30], Vec::new()),
            (CANCEL, [1, 0, 0], Vec::new()),
            (0, [0; 3], Vec::new()),
        ] {
            let mut stream = socket(&scene);
            stream.write_all(&greeting()).unwrap();
            stream
                .write_all(&frame(kind, words, table.len() as u64))
                .unwrap();
            stream.write_all(&table).unwrap();
            assert_ended(&stream);
        }
        until(|| scene.health().connections == 2);
        scene.assert_recovers();
    });
}
