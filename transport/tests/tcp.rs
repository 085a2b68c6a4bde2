//! Peers over TCP that don't do what they should.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test fails where these fail"
)]

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use common::bare::{MAX, farewell, hello, listener, raw, receiving};
use common::{LONG, SHORT, patient};
use jstream::buffer::Pool;
use jstream_transport::{Address, ConnectError, HandshakeError, Options, RecvError, connect};
use socket2::SockRef;

fn header(length: u64) -> [u8; 40] {
    let mut header = [0; 40];
    header[0] = 77;
    header[32..].copy_from_slice(&length.to_le_bytes());
    header
}

fn greeted_with(bytes: &[u8], options: &Options) -> HandshakeError {
    let listener = listener(options);
    let mut stream = raw(listener.local_address());
    stream.write_all(bytes).unwrap();
    if bytes.len() < 32 && options.handshake_timeout == LONG {
        stream.shutdown(std::net::Shutdown::Write).unwrap();
    }
    listener.accept().unwrap().establish().unwrap_err()
}

#[test]
fn greetings_that_do_not_fit() {
    use HandshakeError as E;
    let with = |at: usize, value: u8| {
        let mut bytes = hello();
        bytes[at] = value;
        greeted_with(&bytes, &patient())
    };
    let garbage = greeted_with(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", &patient());
    assert!(
        matches!(garbage, E::Magic { theirs, .. } if theirs == *b"GET / HT"),
        "{garbage}"
    );
    assert!(matches!(with(8, 1), E::Version { ours: 2, theirs: 1 }));
    assert!(matches!(with(14, 16), E::PointerWidth { theirs: 16, .. }));
    assert!(matches!(with(15, 1), E::Reserved { theirs: 1 }));
    assert!(matches!(with(31, 1), E::Reserved { .. }));
    let mut swapped = hello();
    swapped[12..14].reverse();
    let error = greeted_with(&swapped, &patient());
    assert!(
        matches!(
            error,
            E::ByteOrder {
                ours: 0x0102,
                theirs: 0x0201
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("0x0201"));
    let error = greeted_with(&hello()[..31], &patient());
    assert!(matches!(error, E::Closed { received: 31 }), "{error}");
    let error = greeted_with(b"", &patient());
    assert!(matches!(error, E::Closed { received: 0 }), "{error}");
}

#[test]
fn a_client_checks_the_greeting_too() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::tcp("127.0.0.1", server.local_addr().unwrap().port()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = server.accept().unwrap();
            let mut hello = hello();
            hello[8] = 9;
            stream.write_all(&hello).unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        let error = connect(&address, &patient()).unwrap_err();
        let ConnectError::Handshake { source, .. } = error else {
            panic!("{error}")
        };
        assert!(matches!(source, HandshakeError::Version { theirs: 9, .. }));
    });
}

#[test]
fn nobody_listens() {
    let listener = listener(&Options::default());
    let address = listener.local_address().clone();
    drop(listener);
    let error = connect(&address, &Options::default()).unwrap_err();
    assert!(
        matches!(error, ConnectError::Unreachable { tried: 1, .. }),
        "{error}"
    );
    // RFC 6761: this name never has an address.
    let error = connect(
        &"tcp://nobody.invalid:1".parse().unwrap(),
        &Options::default(),
    )
    .unwrap_err();
    assert!(matches!(error, ConnectError::Resolve { .. }), "{error}");
}

#[test]
fn every_address_of_a_name_is_tried() {
    // Only one of the addresses that localhost may have is listened on.
    let listener = listener(&patient());
    let Address::Tcp { port, .. } = *listener.local_address() else {
        unreachable!()
    };
    let address = Address::tcp("localhost", port).unwrap();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(&address, &patient()).unwrap());
        listener.accept().unwrap().establish().unwrap();
        connecting.join().unwrap();
    });
}

#[test]
fn a_silent_or_slow_greeting_times_out() {
    let mut options = Options::default();
    options.handshake_timeout = SHORT;
    let error = greeted_with(b"", &options);
    assert!(
        matches!(error, HandshakeError::TimedOut { received: 0, .. }),
        "{error}"
    );
    let listener = listener(&options);
    let mut stream = raw(listener.local_address());
    stream.write_all(&hello()[..1]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            // Every byte comes in time, all of them don't.
            for byte in &hello()[1..] {
                thread::sleep(SHORT / 4);
                if stream.write_all(&[*byte]).is_err() {
                    break;
                }
            }
        });
        let error = listener.accept().unwrap().establish().unwrap_err();
        assert!(
            matches!(error, HandshakeError::TimedOut { received: 1.., .. }),
            "{error}"
        );
    });
}

#[test]
fn a_byte_at_a_time_is_fine_in_time() {
    let options = patient();
    let listener = listener(&options);
    let mut stream = raw(listener.local_address());
    thread::scope(|scope| {
        scope.spawn(|| {
            let body = common::bytes(5000, 1);
            for byte in hello().iter().chain(&header(300)).chain(&body[..300]) {
                stream.write_all(&[*byte]).unwrap();
                thread::sleep(Duration::from_micros(100));
            }
            stream.write_all(&header(5000)).unwrap();
            for byte in &body {
                stream.write_all(&[*byte]).unwrap();
            }
        });
        let endpoint = listener.accept().unwrap().establish().unwrap();
        for length in [300, 5000] {
            // Time-outs in between lose nothing.
            let message = loop {
                match endpoint.recv_message_timeout(Duration::from_millis(2)) {
                    Err(RecvError::TimedOut { .. }) => {}
                    result => break result.unwrap(),
                }
            };
            assert_eq!(message.header.kind, 77);
            assert!(message.payload.as_bytes() == &common::bytes(5000, 1)[..length]);
        }
    });
}

#[test]
fn half_a_message_then_silence() {
    let mut options = Options::default();
    options.message_timeout = SHORT;
    for part in [1usize, 39, 40, 41, 40 + 4096, 40 + 50_000] {
        let (mut stream, endpoint) = receiving(&options);
        // Before the first byte there is no limit.
        let error = endpoint.recv_message_timeout(SHORT * 2).unwrap_err();
        assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
        let mut message = header(100_000).to_vec();
        message.resize(40 + 100_000, 1);
        stream.write_all(&message[..part]).unwrap();
        let error = endpoint.recv_message().unwrap_err();
        let RecvError::Stalled { received, .. } = error else {
            panic!("{part}: {error}")
        };
        assert_eq!(received, part as u64);
        let error = endpoint.recv_message().unwrap_err();
        assert!(matches!(error, RecvError::Stalled { .. }), "{error}");
        // The peer is told.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}

#[test]
fn a_message_that_trickles_times_out() {
    let mut options = Options::default();
    options.message_timeout = SHORT * 2;
    for whole in [
        [&header(100)[..], &[1; 100]].concat(),
        [&header(3000)[..], &[1; 3000]].concat(),
    ] {
        let (mut stream, endpoint) = receiving(&options);
        thread::scope(|scope| {
            scope.spawn(move || {
                stream.write_all(&whole[..whole.len().min(41) - 1]).unwrap();
                for byte in &whole[whole.len().min(41) - 1..] {
                    if stream.write_all(&[*byte]).is_err() {
                        break;
                    }
                    thread::sleep(SHORT / 4);
                }
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest);
            });
            let error = loop {
                match endpoint.recv_message_timeout(SHORT / 3).unwrap_err() {
                    RecvError::TimedOut { .. } => {}
                    error => break error,
                }
            };
            assert!(matches!(error, RecvError::Stalled { .. }), "{error}");
        });
    }
}

#[test]
fn lengths_beyond_the_limit() {
    for length in [MAX + 1, u64::from(u32::MAX), u64::MAX] {
        let (mut stream, endpoint) = receiving(&patient());
        stream.write_all(&header(length)).unwrap();
        let error = endpoint.recv_message().unwrap_err();
        assert!(
            matches!(error, RecvError::TooLarge { length: l, max: MAX, .. } if l == length),
            "{error}"
        );
        let error = endpoint.recv_message().unwrap_err();
        assert!(matches!(error, RecvError::TooLarge { .. }), "{error}");
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}

#[test]
fn the_largest_length_then_silence_commits_nothing() {
    const PEERS: usize = 16;
    let mut options = Options::default();
    options.message_timeout = SHORT;
    options.pool = Pool::default();
    let before = resident();
    let peers: Vec<_> = (0..PEERS).map(|_| receiving(&options)).collect();
    let mut endpoints = Vec::new();
    for (mut stream, endpoint) in peers {
        stream.write_all(&header(MAX)).unwrap();
        stream.write_all(&[1; 1000]).unwrap();
        let error = endpoint.recv_message_timeout(SHORT / 4).unwrap_err();
        assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
        endpoints.push((stream, endpoint));
    }
    // The peers claimed 1 GiB; other tests run beside this one.
    assert!(options.pool.stats().mapped >= PEERS * MAX as usize);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(
            after.saturating_sub(before) < 256 << 20,
            "{before} -> {after}"
        );
    }
    for (_stream, endpoint) in &endpoints {
        let error = endpoint.recv_message().unwrap_err();
        assert!(
            matches!(error, RecvError::Stalled { received: 1040, .. }),
            "{error}"
        );
    }
    assert_eq!(options.pool.stats().in_use, 0);
}

/// Bytes of this process that are in memory, where the system says it.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[test]
fn a_bad_header() {
    let (mut stream, endpoint) = receiving(&patient());
    let mut bad = header(0);
    bad[7] = 1;
    stream.write_all(&bad).unwrap();
    let error = endpoint.recv_message().unwrap_err();
    assert!(matches!(error, RecvError::Malformed { .. }), "{error}");
}

#[test]
fn an_end_inside_a_message() {
    for part in [1usize, 40, 4000, 50_000] {
        for reset in [false, true] {
            let (mut stream, endpoint) = receiving(&patient());
            let mut message = header(100_000).to_vec();
            message.resize(40 + 100_000, 1);
            stream.write_all(&message[..part]).unwrap();
            if reset {
                // What was sent has to be here before the reset throws it away.
                let error = endpoint.recv_message_timeout(SHORT).unwrap_err();
                assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
                SockRef::from(&stream)
                    .set_linger(Some(Duration::ZERO))
                    .unwrap();
            }
            drop(stream);
            let error = endpoint.recv_message().unwrap_err();
            let RecvError::Lost {
                received, source, ..
            } = error
            else {
                panic!("{error}")
            };
            // A reset may overtake what was sent.
            assert!(received == part as u64 || (reset && received < part as u64));
            let kind = if reset {
                std::io::ErrorKind::ConnectionReset
            } else {
                std::io::ErrorKind::UnexpectedEof
            };
            assert_eq!(source.kind(), kind);
        }
    }
}

#[test]
fn many_messages_in_one_packet() {
    let (mut stream, endpoint) = receiving(&patient());
    let mut all = Vec::new();
    for length in 0..400u64 {
        all.extend(header(length * 13));
        all.extend(common::bytes(length as usize * 13, length));
    }
    thread::scope(|scope| {
        all.extend(farewell());
        scope.spawn(|| stream.write_all(&all).unwrap());
        for length in 0..400u64 {
            let message = endpoint.recv_message_timeout(LONG).unwrap();
            assert!(message.payload.as_bytes() == common::bytes(length as usize * 13, length));
        }
    });
    drop(stream);
    assert!(matches!(
        endpoint.recv_message(),
        Err(RecvError::Closed { .. })
    ));
}

#[test]
fn the_greeting_and_a_message_in_one_packet() {
    let listener = listener(&patient());
    let mut stream = raw(listener.local_address());
    stream
        .write_all(&[&hello()[..], &header(3), b"abc"].concat())
        .unwrap();
    let endpoint = listener.accept().unwrap().establish().unwrap();
    assert_eq!(endpoint.recv_message().unwrap().payload.as_bytes(), b"abc");
}

#[test]
fn an_end_without_a_farewell_is_a_loss() {
    let (stream, endpoint) = receiving(&patient());
    drop(stream);
    let error = endpoint.recv_message().unwrap_err();
    let RecvError::Lost {
        received: 0,
        source,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(source.kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn who_is_refused_learns_why() {
    let listener = listener(&patient());
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(listener.local_address(), &patient()));
        listener.accept().unwrap().refuse("too many by one");
        let error = connecting.join().unwrap().unwrap_err();
        assert!(
            matches!(&error, ConnectError::Refused { reason, .. } if reason == "too many by one"),
            "{error}"
        );
    });
}

/// A verdict of nobody.
#[test]
fn a_client_checks_the_verdict() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::tcp("127.0.0.1", server.local_addr().unwrap().port()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = server.accept().unwrap();
            // A reason that is longer than any.
            let verdict = [1, 0, 0xff, 0xff, 0, 0, 0, 0];
            stream
                .write_all(&[&hello()[..], &verdict].concat())
                .unwrap();
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest);
        });
        let error = connect(&address, &patient()).unwrap_err();
        let ConnectError::Handshake { source, .. } = error else {
            panic!("{error}")
        };
        assert!(
            matches!(source, HandshakeError::Reserved { .. }),
            "{source}"
        );
    });
}
