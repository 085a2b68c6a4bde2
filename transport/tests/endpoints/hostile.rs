//! Hostile peers, by the numbers of the cases, which are unique in this project. Cases that need
//! more than a socket are elsewhere:
//!
//! - 2, for puts and gets: `remote_hostile.rs`; for shared memory: `device::shm::tests::lies`;
//! - 15, a peer that writes after the check, rewinds its counters, or truncates the file:
//!   `device::shm::tests::lies`;
//!   a peer that dies while it holds a slot: `device::shm::tests::deaths`;
//! - 20, a peer that resets the connection inside a message: `tcp.rs`, `sockets.rs`.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::{Pool, PoolOptions};
use jstream_transport::{
    AcceptError, Endpoint, HandshakeError, Header, Listener, Options, RecvError, connect, listen,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use testing::patterns::bytes;
use testing::process::{alone, descriptors, resident};
use testing::tasks::block_on;
use testing::transport::bare::{MAX, frame, greeted, hello, raw, receiving_over};
use testing::transport::{fresh, header, join, patient};
use testing::{LONG, SHORT, over_devices};

/// Returns the header of a message.
fn message(length: u64) -> [u8; 40] {
    frame(0, 77, [0; 3], length)
}

fn empty(endpoint: &Endpoint) {
    let nothing = endpoint.recv_message_within(SHORT / 4).unwrap_err();
    assert!(matches!(nothing, RecvError::TimedOut { .. }), "{nothing}");
}

/// Memory is committed for the received bytes, not for the announced length.
fn case_1_the_largest_length_then_silence(scheme: &str) {
    const PEERS: usize = 16;
    const CAME: usize = 1000;
    alone(|| {
        let mut options = Options::default();
        // Longer than the checks of all connections take.
        options.message_timeout = 10 * SHORT;
        options.pool = Pool::default();
        let peers: Vec<_> = (0..PEERS)
            .map(|_| receiving_over(scheme, &options))
            .collect();
        let before = resident();
        for (stream, endpoint) in &peers {
            let mut stream: &TcpStream = stream;
            stream.write_all(&message(MAX)).unwrap();
            stream.write_all(&[1; CAME]).unwrap();
            empty(endpoint);
        }
        // The peers announced 1 GiB. A header alone reserves little of it.
        let claimed = PEERS * usize::try_from(MAX).unwrap();
        assert!(options.pool.stats().mapped < claimed / 4);
        // Part of the claim of one peer, with a margin for sanitizers.
        let slab = 16 << 20;
        let grown = resident().saturating_sub(before);
        assert!(grown < PEERS * CAME + slab, "{grown} bytes");
        // The timeout of each message begins when the endpoint first waits for it.
        thread::scope(|scope| {
            for (_, endpoint) in &peers {
                scope.spawn(|| {
                    let error = endpoint.recv_message().unwrap_err();
                    let RecvError::Stalled { received, .. } = error else {
                        panic!("{error}");
                    };
                    assert_eq!(received, 40 + CAME as u64);
                });
            }
        });
        assert_eq!(options.pool.stats().in_use, 0);
    });
}

fn case_2_lengths_at_the_limits(scheme: &str) {
    for length in [MAX + 1, u64::from(u32::MAX), 1 << 63, u64::MAX] {
        let (mut stream, endpoint) = receiving_over(scheme, &patient());
        stream.write_all(&message(length)).unwrap();
        for _ in 0..2 {
            let error = endpoint.recv_message().unwrap_err();
            let RecvError::TooLarge {
                length: said, max, ..
            } = error
            else {
                panic!("{error}");
            };
            assert_eq!((said, max), (length, MAX));
        }
        // The peer is told that the connection has ended.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let mut options = patient();
    options.max_message = 5000;
    let (mut stream, endpoint) = receiving_over(scheme, &options);
    for length in [0, 1, 4999, 5000, 0] {
        stream.write_all(&message(length)).unwrap();
        let payload = bytes(usize::try_from(length).unwrap(), length);
        stream.write_all(&payload).unwrap();
        let message = endpoint.recv_message_within(LONG).unwrap();
        assert!(message.payload.as_bytes() == payload);
    }
    stream.write_all(&message(5001)).unwrap();
    let error = endpoint.recv_message_within(LONG).unwrap_err();
    assert!(matches!(error, RecvError::TooLarge { .. }), "{error}");
}

/// Sends bytes one at a time. Each byte arrives in time, but the whole does not.
fn trickle(mut stream: &TcpStream, bytes: &[u8]) {
    for byte in bytes {
        thread::sleep(SHORT / 8);
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
    }
    let _ = stream.read_to_end(&mut Vec::new());
}

fn case_3_a_greeting_byte_by_byte(scheme: &str) {
    let mut options = Options::default();
    options.handshake_timeout = SHORT;
    let listener = listen(&fresh(scheme), &options).unwrap();
    for sent in [0, 1] {
        let mut stream = raw(listener.local_address());
        stream.write_all(&hello()[..sent]).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                if sent > 0 {
                    trickle(&stream, &hello()[sent..]);
                }
            });
            let error = listener.accept().unwrap().establish().unwrap_err();
            let HandshakeError::TimedOut { received, .. } = error else {
                panic!("{error}");
            };
            assert!(received >= sent && received < 32, "{received}");
        });
    }
}

fn case_3_a_message_byte_by_byte(scheme: &str) {
    let mut options = Options::default();
    options.message_timeout = SHORT * 2;
    let whole = [&message(3000)[..], &[1; 3000]].concat();
    // From the header on, and from the payload on.
    for at_once in [1, 41] {
        let (mut stream, endpoint) = receiving_over(scheme, &options);
        // Before the first byte, no timeout runs.
        let error = endpoint.recv_message_within(SHORT * 3).unwrap_err();
        assert!(matches!(error, RecvError::TimedOut { .. }), "{error}");
        thread::scope(|scope| {
            let whole = &whole;
            scope.spawn(move || {
                stream.write_all(&whole[..at_once]).unwrap();
                trickle(&stream, &whole[at_once..]);
            });
            let error = loop {
                match endpoint.recv_message_within(SHORT / 3).unwrap_err() {
                    RecvError::TimedOut { .. } => {}
                    error => break error,
                }
            };
            assert!(matches!(error, RecvError::Stalled { .. }), "{error}");
        });
    }
}

fn case_3_half_a_message_then_silence(scheme: &str) {
    let mut options = Options::default();
    options.message_timeout = SHORT;
    for part in [1, 39, 40, 41, 40 + 4096, 40 + 50_000] {
        let (mut stream, endpoint) = receiving_over(scheme, &options);
        let mut message = message(100_000).to_vec();
        message.resize(40 + 100_000, 1);
        stream.write_all(&message[..part]).unwrap();
        for _ in 0..2 {
            let error = endpoint.recv_message().unwrap_err();
            let RecvError::Stalled { received, .. } = error else {
                panic!("{part}: {error}")
            };
            assert_eq!(received, part as u64);
        }
        // The peer is told that the connection has ended.
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

/// Each peer stays within its own limit. All peers together stay within the limit of the pool.
fn case_5_a_cap_over_all_connections(scheme: &str) {
    const PEERS: usize = 40;
    const LENGTH: usize = 1 << 20;
    const CAP: usize = 8 << 20;
    alone(|| {
        let mut limit = PoolOptions::default();
        limit.max_mapped = CAP;
        let mut options = patient();
        options.pool = Pool::new(limit);
        let peers: Vec<_> = (0..PEERS)
            .map(|_| receiving_over(scheme, &options))
            .collect();
        let before = resident();
        // All payloads together exceed the limit many times over.
        let payload = bytes(LENGTH, 5);
        let (first, rest) = payload.split_at(LENGTH / 2);
        let mut refused = 0;
        thread::scope(|scope| {
            let (begin, others) = (first, rest);
            let writing: Vec<_> = peers
                .iter()
                .map(|(stream, _)| {
                    let mut stream: &TcpStream = stream;
                    scope.spawn(move || {
                        stream.write_all(&message(LENGTH as u64)).unwrap();
                        stream.write_all(begin).unwrap();
                        stream.write_all(others).unwrap();
                    })
                })
                .collect();
            let mut waiting: Vec<_> = peers.iter().map(|(_, endpoint)| endpoint).collect();
            let mut held = Vec::new();
            let begun = Instant::now();
            while !waiting.is_empty() {
                assert!(begun.elapsed() < LONG, "{} wait", waiting.len());
                waiting.retain(|endpoint| {
                    match endpoint.recv_message_within(Duration::from_millis(1)) {
                        Ok(message) => {
                            assert!(message.payload.as_bytes() == payload);
                            held.push(message);
                            false
                        }
                        Err(RecvError::TimedOut { .. }) => true,
                        Err(RecvError::NoBuffer { length, .. }) => {
                            assert_eq!(length, LENGTH as u64);
                            refused += 1;
                            // Frees space for the other peers.
                            held.clear();
                            true
                        }
                        Err(error) => panic!("{error}"),
                    }
                });
                assert!(options.pool.stats().mapped <= CAP);
                let grown = resident().saturating_sub(before);
                assert!(
                    grown < CAP + PEERS * (64 << 10) + (16 << 20),
                    "{grown} bytes"
                );
            }
            writing
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        });
        assert!(refused > 0, "no message was rejected");
        assert_eq!(options.pool.stats().in_use, 0);
    });
}

/// Sets the limit of file descriptors of this process.
fn allow(descriptors: Option<u64>) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = descriptors;
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
}

/// While the process has no free descriptors, accepting fails at a limited rate. Existing
/// connections still work, and the pending connection is accepted later.
fn case_19_out_of_descriptors(scheme: &str) {
    alone(|| {
        type Accept = fn(&Listener) -> Result<(), AcceptError>;
        let blocking: Accept = |listener| listener.accept_timeout(LONG).map(drop);
        let awaited: Accept = |listener| block_on(listener.accept_async()).map(drop);
        let most = getrlimit(Resource::Nofile).current;
        for accept in [blocking, awaited] {
            let listener = listen(&fresh(scheme), &patient()).unwrap();
            let address = listener.local_address().clone();
            let (here, there) = join(&listener, &patient());
            let echo = |number| {
                here.send_message(header(number), &[]).unwrap();
                let message = there.recv_message_within(LONG).unwrap();
                assert_eq!(message.header.words[0], number);
            };
            echo(0);
            thread::scope(|scope| {
                let before = descriptors();
                let client = scope.spawn(|| connect(&address, &patient()).unwrap());
                // Waits until the client has opened all of its descriptors.
                let mut seen = before;
                while seen == before || seen != descriptors() {
                    seen = descriptors();
                    thread::sleep(SHORT);
                }
                let lowest_free = std::fs::File::open("/dev/null").unwrap().as_raw_fd();
                allow(Some(u64::try_from(lowest_free).unwrap()));
                let begun = Instant::now();
                let mut errors = 0;
                while begun.elapsed() < SHORT {
                    let error = accept(&listener).unwrap_err();
                    assert!(matches!(error, AcceptError::System { .. }), "{error}");
                    errors += 1;
                    echo(errors);
                }
                // A loop that accepts does not spin.
                let rests = begun.elapsed().as_millis() / 20;
                assert!(u128::from(errors) <= rests + 2, "{errors} errors");
                connect(&address, &patient()).unwrap_err();
                allow(most);
                let server = listener.accept().unwrap().establish().unwrap();
                let client = client.join().unwrap();
                client.send_message(Header::new(3, [0; 3]), &[]).unwrap();
                assert_eq!(server.recv_message_within(LONG).unwrap().header.kind, 3);
            });
            echo(9);
        }
    });
}

/// Peers that connect and stay silent do not block other peers.
fn case_20_half_open_connections(scheme: &str) {
    let mut options = patient();
    options.handshake_timeout = SHORT;
    let listener = listen(&fresh(scheme), &options).unwrap();
    let silent: Vec<_> = (0..50).map(|_| raw(listener.local_address())).collect();
    thread::scope(|scope| {
        let half_open: Vec<_> = silent
            .iter()
            .map(|_| {
                let incoming = listener.accept().unwrap();
                scope.spawn(|| incoming.establish().unwrap_err())
            })
            .collect();
        // A peer that speaks is served meanwhile.
        let (mut stream, endpoint) = greeted(&listener);
        stream.write_all(&message(3)).unwrap();
        stream.write_all(b"abc").unwrap();
        let message = endpoint.recv_message_within(LONG).unwrap();
        assert_eq!(message.payload.as_bytes(), b"abc");
        for error in half_open {
            let error = error.join().unwrap();
            assert!(
                matches!(error, HandshakeError::TimedOut { received: 0, .. }),
                "{error}"
            );
        }
    });
    for mut stream in silent {
        // The listener closed the connection.
        assert!(
            stream
                .read_to_end(&mut Vec::new())
                .is_ok_and(|read| read <= 296)
        );
    }
}

#[test]
#[cfg_attr(
    address_sanitizer,
    ignore = "measures memory, of which the sanitizer takes some"
)]
fn case_20_idle_connections_cost_little() {
    alone(|| {
        let mut options = patient();
        options.pool = Pool::default();
        let listener = listen(&fresh("tcp"), &options).unwrap();
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let count = (most.saturating_sub(200) / 2).min(10_000);
        let warm = greeted(&listener);
        let before = resident();
        let mut all: Vec<_> = (0..count).map(|_| greeted(&listener)).collect();
        for (_, endpoint) in &all {
            let nothing = endpoint.recv_message_within(Duration::ZERO).err().unwrap();
            assert!(matches!(nothing, RecvError::Empty), "{nothing}");
        }
        let each = (resident() - before) / count;
        println!("{count} idle connections, {each} bytes of memory each");
        assert!(each < 16 << 10);
        assert_eq!(options.pool.stats().mapped, 0);
        let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
        assert!(threads < 8, "{threads} threads");
        // One of the connections is served.
        let (stream, endpoint) = &mut all[count / 2];
        stream.write_all(&message(3)).unwrap();
        stream.write_all(b"abc").unwrap();
        let message = endpoint.recv_message_within(LONG).unwrap();
        assert_eq!(message.payload.as_bytes(), b"abc");
        drop(warm);
    });
}

fn case_24_greetings_that_do_not_fit(scheme: &str) {
    use HandshakeError as E;
    let greeted_with = |bytes: &[u8]| {
        let listener = listen(&fresh(scheme), &patient()).unwrap();
        let mut stream = raw(listener.local_address());
        stream.write_all(bytes).unwrap();
        if bytes.len() < 32 {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        let error = listener.accept().unwrap().establish().unwrap_err();
        // A peer that speaks this protocol learns the reason if possible. No peer waits for ever.
        match stream.read_to_end(&mut Vec::new()) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        error
    };
    let with = |at: usize, value: u8| {
        let mut bytes = hello();
        bytes[at] = value;
        greeted_with(&bytes)
    };
    let garbage = greeted_with(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
    assert!(
        matches!(garbage, E::Magic { theirs, .. } if theirs == *b"GET / HT"),
        "{garbage}"
    );
    assert!(matches!(with(7, 1), E::Magic { .. }));
    assert!(matches!(with(8, 1), E::Version { ours: 2, theirs: 1 }));
    assert!(matches!(with(11, 1), E::Version { .. }));
    assert!(matches!(with(14, 16), E::PointerWidth { theirs: 16, .. }));
    assert!(matches!(with(15, 1), E::Reserved { theirs: 1 }));
    assert!(matches!(with(31, 1), E::Reserved { .. }));
    let mut swapped = hello();
    swapped[12..14].reverse();
    let error = greeted_with(&swapped);
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
    for part in [0, 1, 31] {
        let error = greeted_with(&hello()[..part]);
        let E::Closed { received } = error else {
            panic!("{part}: {error}");
        };
        assert_eq!(received, part);
    }
}

over_devices! {
    tcp uring: {
        case_1_the_largest_length_then_silence
        case_2_lengths_at_the_limits
        case_3_a_greeting_byte_by_byte
        case_3_a_message_byte_by_byte
        case_3_half_a_message_then_silence
        case_5_a_cap_over_all_connections
        case_20_half_open_connections
        case_24_greetings_that_do_not_fit
    }
}

mod descriptors_of {
    use super::{case_19_out_of_descriptors, over_devices};

    over_devices! {
        shm uds tcp uring: { case_19_out_of_descriptors }
    }
}
