//! Active messages at the maximum rate, and peers that break the protocol.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_transport::active::{
    Backpressure, Handlers, Peer, Reason, Request, RequestError, Settings,
};
use jstream_transport::{Endpoint, Header};
use testing::patterns::bytes;
use testing::transport::peers::joined_by;
use testing::transport::{checksum, default_pair};
use testing::{SHORT, over_devices};

/// Returns handlers that add up the checksums of their payloads, and reply with the same bytes.
fn noting() -> (Handlers, Arc<AtomicU64>) {
    let sum = Arc::new(AtomicU64::new(0));
    let (noted, sent) = (sum.clone(), sum.clone());
    let handlers = Handlers::builder()
        .on("note", move |request: Request| {
            noted.fetch_add(checksum(request.bytes()), Ordering::Relaxed);
            request.echo();
        })
        .on("send", move |request: Request| {
            sent.fetch_add(checksum(request.bytes()), Ordering::Relaxed);
        })
        .on("sent", |request| request.reply(0, &[]))
        .build();
    (handlers, sum)
}

/// Sends requests and one-way messages as fast as credit permits. Returns the sum of the checksums.
fn storm(peer: &Peer, count: u64, seed: u64) -> u64 {
    let (note, send) = (peer.handler("note").unwrap(), peer.handler("send").unwrap());
    let mut tickets = Vec::new();
    let mut sum = 0u64;
    for turn in 0..count {
        let length = [0, 7, 300, 9000, 200, 70_000][(turn % 6) as usize];
        let payload = bytes(length, seed + turn);
        sum = sum.wrapping_add(checksum(&payload));
        if turn % 3 == 0 {
            peer.send(send, turn, &payload).unwrap();
        } else {
            tickets.push((payload.clone(), peer.request(note, turn, &payload).unwrap()));
        }
    }
    for (payload, ticket) in tickets {
        assert_eq!(ticket.wait().unwrap().payload.as_bytes(), payload);
    }
    // The peer handles this request after all earlier messages.
    let sent = peer.handler("sent").unwrap();
    peer.request(sent, 0, &[]).unwrap().wait().unwrap();
    sum
}

fn both_send_as_fast_as_they_can(scheme: &str) {
    for (messages, window) in [(1, 1), (2, 5000), (256, 16 << 20)] {
        let mut settings = Settings::default();
        settings.window_messages = messages;
        settings.window_bytes = window;
        let ((here, at_here), (there, at_there)) = (noting(), noting());
        let (one, other) = joined_by(scheme, &here, &there, &settings);
        let sums = thread::scope(|scope| {
            let back = scope.spawn(|| {
                let sum = storm(&other, 300, 1000);
                other.serve(None);
                sum
            });
            let sum = storm(&one, 300, 5000);
            // The peer may still be sending.
            while at_here.load(Ordering::Relaxed) == 0 || !done(&here) {
                one.poll();
                thread::yield_now();
            }
            one.close();
            (sum, back.join().unwrap())
        });
        assert_eq!(
            at_there.load(Ordering::Relaxed),
            sums.0,
            "{scheme} {messages}"
        );
        assert_eq!(
            at_here.load(Ordering::Relaxed),
            sums.1,
            "{scheme} {messages}"
        );
    }
}

/// Returns true if the peer has sent its last request.
fn done(handlers: &Handlers) -> bool {
    handlers.counters_of("sent").unwrap().ran_inline > 0
}

over_devices!(inproc shm uds tcp uring: {
    both_send_as_fast_as_they_can
});

const HELLO: u32 = 0x6a73_6101;
const REQUEST: u32 = 0x6a73_6102;
const SEND: u32 = 0x6a73_6103;
const REPLY: u32 = 0x6a73_6104;
const RETURN: u32 = 0x6a73_6105;
const CREDIT: u32 = 0x6a73_6107;
const CANCEL: u32 = 0x6a73_6108;

/// Returns a bare endpoint that may send arbitrary frames, and a peer joined to it.
fn bare(settings: &Settings) -> (Endpoint, Peer) {
    let (client, server) = default_pair("tcp");
    let (handlers, _) = noting();
    let table = Header::new(HELLO, [1, 4, 1000]);
    client.send_message(table, &[]).unwrap();
    let peer = Peer::join(server, &handlers, settings.clone()).unwrap();
    let theirs = client.recv_message().unwrap().header;
    assert_eq!(theirs.kind, HELLO);
    (client, peer)
}

/// Sends the frames, and checks that the peer closes the connection.
fn is_cut_off(frames: &[(u32, [u64; 3], usize)]) {
    let mut settings = Settings::default();
    settings.window_messages = 2;
    settings.window_bytes = 100;
    let (client, peer) = bare(&settings);
    for (kind, words, length) in frames {
        let _ = client.send_message(
            Header::new(*kind, *words),
            &[std::io::IoSlice::new(&vec![0; *length])],
        );
    }
    peer.serve(None);
    assert!(peer.has_ended());
    while client.recv_message().is_ok() {}
}

#[test]
fn who_breaks_the_rules_is_cut_off() {
    // Unknown frames.
    is_cut_off(&[(0, [0; 3], 0)]);
    is_cut_off(&[(HELLO, [1, 1, 1], 0)]);
    // Answers to unknown requests.
    is_cut_off(&[(REPLY, [0; 3], 0)]);
    is_cut_off(&[(RETURN, [3 | (1 << 32), 0, 0], 0)]);
    // More credit than was used.
    is_cut_off(&[(CREDIT, [1 << 48, 0, 0], 0)]);
    is_cut_off(&[(CREDIT, [0, 0, 1], 0)]);
    is_cut_off(&[(SEND, [(1 << 32) | (1 << 48), 0, 0], 0)]);
    // Texts that exceed the message.
    is_cut_off(&[(RETURN, [0, 0, 9 << 48], 8)]);
}

#[test]
fn who_sends_more_than_the_window_is_cut_off() {
    let mut settings = Settings::default();
    settings.window_messages = 2;
    let (client, server) = default_pair("tcp");
    client
        .send_message(Header::new(HELLO, [1, 4, 1000]), &[])
        .unwrap();
    let kept: Arc<Mutex<Vec<Request>>> = Arc::default();
    let keeps = kept.clone();
    let handlers = Handlers::builder()
        .on("keep", move |request: Request| {
            keeps.lock().unwrap().push(request)
        })
        .build();
    let peer = Peer::join(server, &handlers, settings).unwrap();
    for number in 0..3 {
        let _ = client.send_message(Header::new(REQUEST, [number, 0, 0]), &[]);
    }
    peer.serve(None);
    assert!(peer.has_ended());
    // The requests own the handlers, and the handlers own the requests; this breaks the cycle.
    kept.lock().unwrap().clear();
}

#[test]
fn a_number_that_is_open_is_not_used_again() {
    let (client, server) = default_pair("tcp");
    client
        .send_message(Header::new(HELLO, [1, 4, 1000]), &[])
        .unwrap();
    let kept: Arc<Mutex<Vec<Request>>> = Arc::default();
    let keeps = kept.clone();
    let handlers = Handlers::builder()
        .on("keep", move |request: Request| {
            keeps.lock().unwrap().push(request)
        })
        .build();
    let peer = Peer::join(server, &handlers, Settings::default()).unwrap();
    for _ in 0..2 {
        let _ = client.send_message(Header::new(REQUEST, [5, 0, 0]), &[]);
    }
    peer.serve(None);
    assert!(peer.has_ended());
    // The requests own the handlers, and the handlers own the requests; this breaks the cycle.
    kept.lock().unwrap().clear();
}

#[test]
fn unknown_handlers_give_back_and_cancels_for_nothing_are_allowed() {
    let (client, peer) = bare(&Settings::default());
    client
        .send_message(Header::new(CANCEL, [77, 0, 0]), &[])
        .unwrap();
    let words = [3 | (999 << 32), 11, 0];
    let payload = [std::io::IoSlice::new(b"unknown")];
    client
        .send_message(Header::new(REQUEST, words), &payload)
        .unwrap();
    while peer.poll() < 1 {}
    let answer = loop {
        match client.recv_message_within(Duration::ZERO) {
            Ok(answer) => break answer,
            Err(_) => drop(peer.poll()),
        }
    };
    assert_eq!(answer.header.kind, RETURN);
    // Returned for lack of a handler, with credit for one message of 7 bytes.
    assert_eq!(answer.header.words, [3 | (1 << 32) | (1 << 48), 11, 7]);
    assert_eq!(answer.payload.as_bytes(), b"unknown");
    assert!(!peer.has_ended());
}

#[test]
fn what_comes_back_unasked_is_kept_up_to_a_number() {
    let mut settings = Settings::default();
    settings.kept_returns = 3;
    let (client, peer) = bare(&settings);
    const BOUNCE: u32 = 0x6a73_6106;
    for number in 0..10 {
        let words = [number | (2 << 32), 0, 2 << 48];
        let text = [std::io::IoSlice::new(b"no")];
        client
            .send_message(Header::new(BOUNCE, words), &text)
            .unwrap();
    }
    client.finish().unwrap();
    peer.serve(None);
    let kept: Vec<_> = std::iter::from_fn(|| peer.attendant().take_returned()).collect();
    assert_eq!(kept.len(), 3);
    assert!(
        kept.iter()
            .all(|returned| returned.reason == Reason::Refused)
    );
    assert_eq!((kept[2].handler, kept[2].text.as_str()), (2, "no"));
}

#[test]
fn who_gives_no_credit_is_not_sent_to() {
    let mut settings = Settings::default();
    settings.credit_timeout = SHORT;
    let (client, server) = default_pair("tcp");
    // One handler, "h", of bytes.
    let mut table = vec![0; 16];
    table.extend_from_slice(&[1, 0, 0, 0, b'h']);
    let hello = Header::new(HELLO, [1, 2, 1000]);
    client
        .send_message(hello, &[std::io::IoSlice::new(&table)])
        .unwrap();
    let peer = Peer::join(server, &Handlers::none(), settings).unwrap();
    let handler = peer.handler("h").unwrap();
    peer.send(handler, 0, &[]).unwrap();
    peer.send(handler, 0, &[0; 600]).unwrap();
    assert!(matches!(
        peer.send_with(handler, 0, b"", Backpressure::Fail),
        Err(RequestError::NoCredit)
    ));
    assert!(matches!(
        peer.send(handler, 0, &[]),
        Err(RequestError::TimedOut { .. })
    ));
    let credit = Header::new(CREDIT, [2 << 48, 0, 600]);
    client.send_message(credit, &[]).unwrap();
    peer.send(handler, 0, &[]).unwrap();
    // Longer than the window. It may be sent when half of the window is free.
    peer.send(handler, 0, &[0; 5000]).unwrap();
}
