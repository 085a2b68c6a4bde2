//! Large jbufs over `uring` that the system still reads after the send has completed.

use std::io::{IoSlice, Read};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use jstream::buffer::{MessageBuffer, Pool};
use jstream_transport::{Endpoint, Options, RecvError, SendError};
use testing::patterns::bytes;
use testing::transport::bare::{frame, receiving_over};
use testing::transport::{header, pair, patient};
use testing::{LONG, SHORT};

const LENGTH: usize = 300_000;

/// Returns options that lend jbufs to the system. For a peer on the same host, the system copies
/// lent memory, but not before it sends it.
fn lending() -> Options {
    let mut options = patient();
    options.uring_zero_copy = 10_000;
    options.uring_zero_copy_on_host = true;
    options
}

fn jbuf(pool: &Pool, number: u64) -> MessageBuffer {
    let empty = pool.take(LENGTH).unwrap();
    empty.copy_from(&bytes(LENGTH, number)).unwrap()
}

fn read(stream: &mut TcpStream, number: u64) {
    let mut read = vec![0; 40 + LENGTH];
    stream.read_exact(&mut read).unwrap();
    assert!(read[..40] == frame(0, 1, [number, 0, 0], LENGTH as u64));
    assert!(read[40..] == bytes(LENGTH, number), "message {number}");
}

/// Uses an endpoint until all jbufs have been returned.
fn all_back(endpoint: &Endpoint, pool: &Pool) {
    let begun = Instant::now();
    while pool.stats().in_use > 0 {
        let nothing = endpoint.recv_message_within(Duration::from_millis(1));
        assert!(matches!(nothing, Err(RecvError::TimedOut { .. })));
        assert!(begun.elapsed() < LONG, "{} in use", pool.stats().in_use);
    }
}

#[test]
fn a_posted_jbuf_is_kept_and_goes_back_to_its_pool() {
    let options = lending();
    let (mut stream, endpoint) = receiving_over("uring", &options);
    assert_eq!(endpoint.info().degraded, Vec::<String>::new());
    let tickets: Vec<_> = (0..40)
        .map(|number| endpoint.post_send(header(number), jbuf(&options.pool, number)))
        .collect();
    thread::scope(|scope| {
        scope.spawn(|| (0..40).for_each(|number| read(&mut stream, number)));
        for ticket in tickets {
            assert!(ticket.wait().unwrap().is_none(), "the device keeps it");
        }
    });
    all_back(&endpoint, &options.pool);
}

#[test]
fn both_ways_at_once() {
    let options = lending();
    let (one, other) = pair("uring", &options, &options);
    thread::scope(|scope| {
        for (ours, theirs) in [(&one, &other), (&other, &one)] {
            scope.spawn(|| {
                for number in 0..50 {
                    let sent = ours.send_buffer(header(number), jbuf(&options.pool, number));
                    sent.map_err(|unsent| unsent.error).unwrap();
                }
            });
            scope.spawn(|| {
                for number in 0..50 {
                    let message = theirs.recv_message().unwrap();
                    assert_eq!(message.header.words[0], number);
                    assert!(message.payload.as_bytes() == bytes(LENGTH, number));
                }
            });
        }
    });
    let begun = Instant::now();
    while options.pool.stats().in_use > 0 {
        for endpoint in [&one, &other] {
            let _ = endpoint.recv_message_within(Duration::from_millis(1));
        }
        assert!(begun.elapsed() < LONG);
    }
}

/// The rest of a non-blocking send completes in the background.
#[test]
fn what_did_not_fit_follows() {
    let options = lending();
    let (mut stream, endpoint) = receiving_over("uring", &options);
    let mut sent = 0;
    loop {
        let payload = bytes(LENGTH, sent);
        match endpoint.try_send_message(header(sent), &[IoSlice::new(&payload)]) {
            Ok(()) => sent += 1,
            Err(SendError::WouldBlock) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent > 1);
    (0..sent).for_each(|number| read(&mut stream, number));
    all_back(&endpoint, &options.pool);
}

#[test]
fn a_peer_that_dies_gives_messages_back() {
    let options = lending();
    let (stream, endpoint) = receiving_over("uring", &options);
    let tickets: Vec<_> = (0..60)
        .map(|number| endpoint.post_send(header(number), jbuf(&options.pool, number)))
        .collect();
    drop(stream);
    let mut lost = 0;
    for (number, ticket) in (0..).zip(tickets) {
        if let Err(unsent) = ticket.wait() {
            assert!(unsent.filled.as_bytes() == bytes(LENGTH, number));
            lost += 1;
        }
    }
    assert!(lost > 1, "{lost} were not sent");
    drop(endpoint);
    let begun = Instant::now();
    while options.pool.stats().in_use > 0 {
        // A new connection on this thread processes the completions.
        drop(pair("uring", &options, &options));
        assert!(begun.elapsed() < LONG);
    }
}

#[test]
fn a_peer_that_takes_nothing_gives_the_message_back() {
    let mut options = lending();
    options.send_timeout = SHORT;
    let (mut stream, endpoint) = receiving_over("uring", &options);
    let (number, unsent) = (0..)
        .find_map(|number| {
            let sent = endpoint.send_buffer(header(number), jbuf(&options.pool, number));
            sent.err().map(|unsent| (number, unsent))
        })
        .unwrap();
    assert!(
        matches!(
            unsent.error,
            SendError::Stalled { .. } | SendError::TimedOut { .. }
        ),
        "{}",
        unsent.error
    );
    assert!(unsent.filled.as_bytes() == bytes(LENGTH, number));
    // The returned jbuf belongs to the program alone.
    let mut filled = unsent.filled;
    filled.as_bytes_mut().fill(0xee);
    drop(endpoint);
    (0..number).for_each(|number| read(&mut stream, number));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    let payload = rest.get(40..).unwrap_or_default();
    assert!(bytes(LENGTH, number).starts_with(payload));
}
