//! Peers that attack each other with active messages, end at any moment, or send requests without
//! end.

use std::future::Future;
use std::io::IoSlice;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use jstream_transport::active::{
    Backpressure, Guarded, Handlers, JoinError, Peer, Reason, Request, RequestError, Settings,
    yield_now,
};
use jstream_transport::{Endpoint, Header, Options};
use testing::patterns::bytes;
use testing::tasks::block_on;
use testing::transport::peers::joined_by;
use testing::transport::{default_pair, pair};
use testing::{LONG, over_devices};

const HELLO: u32 = 0x6a73_6101;
const REQUEST: u32 = 0x6a73_6102;
const CANCEL: u32 = 0x6a73_6108;

/// Returns a bare endpoint that may send arbitrary frames, and a peer that has received its hello.
fn bare(scheme: &str, handlers: &Handlers, settings: &Settings) -> (Endpoint, Peer) {
    let (client, server) = default_pair(scheme);
    client
        .send_message(Header::new(HELLO, [1, 64, 1 << 20]), &[])
        .unwrap();
    let peer = Peer::join(server, handlers, settings.clone()).unwrap();
    assert_eq!(client.recv_message().unwrap().header.kind, HELLO);
    (client, peer)
}

/// Queued requests do not run after their sender has gone.
#[test]
fn requests_of_who_has_gone_do_not_hold_up_others() {
    const MANY: u64 = 40;
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let handlers = Handlers::builder()
        .on("slow", move |request: Request| {
            counted.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(100));
            request.reply(0, &[]);
        })
        .build();
    let mut settings = Settings::default();
    settings.window_messages = 64;
    for scheme in ["tcp", "uds"] {
        ran.store(0, Ordering::Relaxed);
        let (client, peer) = bare(scheme, &handlers, &settings);
        for number in 0..MANY {
            let header = Header::new(REQUEST, [number, 0, 0]);
            client.send_message(header, &[]).unwrap();
        }
        drop(client);
        peer.serve(None);
        let ran = ran.load(Ordering::Relaxed) as u64;
        assert!(ran < MANY / 2, "{ran} handlers have run over {scheme}");
    }
}

/// An answer that exceeds the message limit uses up none of the window.
fn answers_that_are_too_long_leave_the_windows_whole(scheme: &str) {
    const LIMIT: usize = 1 << 16;
    let mut options = Options::default();
    options.max_message = LIMIT as u64;
    let (client, server) = pair(scheme, &options, &Options::default());
    let handlers = Handlers::builder()
        .on("long", |request: Request| {
            request.reply(0, &[0; LIMIT + 1]);
        })
        .build();
    let mut settings = Settings::default();
    settings.window_messages = 4;
    settings.credit_timeout = LONG / 4;
    let one = thread::scope(|scope| {
        let other = scope.spawn(|| Peer::join(server, &handlers, settings.clone()).unwrap());
        let one = Peer::join(client, &Handlers::none(), settings.clone()).unwrap();
        let other = other.join().unwrap();
        thread::spawn(move || other.serve(None));
        one
    });
    let long = one.handler("long").unwrap();
    for _ in 0..20 {
        let error = one.request(long, 0, b"").unwrap().wait().unwrap_err();
        assert!(matches!(
            error,
            RequestError::Returned { ref returned, .. } if returned.reason == Reason::Unsendable
        ));
    }
}

/// If a peer sends and never reads, its answers are queued up to the limit of its window. After
/// that, the connection ends.
fn who_does_not_read_is_cut_off(scheme: &str) {
    let handlers = Handlers::builder().on("echo", Request::echo).build();
    let mut settings = Settings::default();
    settings.window_messages = 16;
    let (client, peer) = bare(scheme, &handlers, &settings);
    let serving = thread::spawn(move || {
        peer.serve(None);
        handlers.counters().ran_inline
    });
    const MOST: u64 = 4000;
    let payload = vec![7; 64 << 10];
    let sent = (0..MOST).take_while(|number| {
        let header = Header::new(REQUEST, [*number, 0, 0]);
        client
            .send_message(header, &[IoSlice::new(&payload)])
            .is_ok()
    });
    let sent = sent.count() as u64;
    let answered = serving.join().unwrap();
    assert!(sent < MOST && answered < MOST, "{sent} {answered}");
}

/// Requests that are cancelled at any stage release their share of the window.
fn windows_are_whole_after_cancels_at_every_moment(scheme: &str) {
    let running = Arc::new(AtomicUsize::new(0));
    let kept: Arc<Mutex<Vec<Request>>> = Arc::default();
    let (counted, keeps) = (running.clone(), kept.clone());
    let handlers = Handlers::builder()
        .on_async("yield", move |request: Request| {
            let running = counted.clone();
            async move {
                running.fetch_add(1, Ordering::Relaxed);
                let running = Leaving(running);
                for _ in 0..request.word() {
                    yield_now().await;
                }
                drop(running);
                request.echo();
            }
        })
        .on("keep", move |request| keeps.lock().unwrap().push(request))
        .build();
    let mut settings = Settings::default();
    settings.window_messages = 8;
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
    let serving = thread::spawn(move || server.serve(None));
    let (yields, keep) = (
        client.handler("yield").unwrap(),
        client.handler("keep").unwrap(),
    );
    for turn in 0..150u64 {
        let mut ticket = pin!(
            client
                .request_with(yields, turn % 7, b"payload", Backpressure::Queue)
                .unwrap()
        );
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..turn % 5 {
            if ticket.as_mut().poll(&mut context).is_ready() {
                break;
            }
        }
        // The ticket is dropped here, at whatever stage the request is.
    }
    // The window has its full size again.
    let tickets: Vec<_> = (0..8)
        .map(|_| client.request(keep, 0, &[]).unwrap())
        .collect();
    while kept.lock().unwrap().len() < 8 {
        client.poll();
        thread::yield_now();
    }
    assert_eq!(running.load(Ordering::Relaxed), 0);
    assert!(matches!(
        client.request_with(keep, 0, b"", Backpressure::Fail),
        Err(RequestError::NoCredit)
    ));
    kept.lock().unwrap().drain(..).for_each(Request::echo);
    for ticket in tickets {
        ticket.wait().unwrap();
    }
    drop(client);
    serving.join().unwrap();
}

struct Leaving(Arc<AtomicUsize>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs a recursion of requests to `depth`: each handler sends a request with a smaller word back
/// to its peer.
fn down(settings: &Settings, scheme: &str, depth: u64) -> Result<u64, RequestError> {
    let table = || {
        Handlers::builder()
            .on("down", |request: Request| {
                let Some(rest) = request.word().checked_sub(1) else {
                    return request.reply(0, &[]);
                };
                let peer = request.peer();
                let down = peer.handler("down").unwrap();
                let asked = peer.request(down, rest, &[]);
                match asked.and_then(|ticket| ticket.wait()) {
                    Ok(reply) => request.reply(reply.word + 1, &[]),
                    Err(error) => request.refuse(&error.to_string()),
                }
            })
            .build()
    };
    let (one, other) = joined_by(scheme, &table(), &table(), settings);
    let serving = thread::spawn(move || other.serve(None));
    let down = one.handler("down").unwrap();
    let outcome = one.request(down, depth, &[]).unwrap().wait();
    drop(one);
    serving.join().unwrap();
    outcome.map(|reply| reply.word)
}

fn handlers_that_ask_each_other_without_end_come_to_one(scheme: &str) {
    let mut settings = Settings::default();
    settings.retries = 2;
    settings.nesting = 3;
    settings.credit_timeout = Duration::from_millis(100);
    assert_eq!(down(&settings, scheme, 60).unwrap(), 60);
    down(&settings, scheme, 1_000_000).unwrap_err();
}

/// Every kind of wait ends with an error when the peer is gone.
fn every_wait_ends_with_the_peer(scheme: &str) {
    let kept: Arc<Mutex<Vec<Request>>> = Arc::default();
    let keeps = kept.clone();
    let handlers = Handlers::builder()
        .on("keep", move |request| keeps.lock().unwrap().push(request))
        .on("nack", Request::nack)
        .build();
    let mut settings = Settings::default();
    settings.window_messages = 3;
    settings.backoff = Duration::from_millis(40);
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &settings);
    let its = server.clone();
    let serving = thread::spawn(move || its.serve(None));
    let (keep, nack) = (
        client.handler("keep").unwrap(),
        client.handler("nack").unwrap(),
    );
    let mut timed = client.request(keep, 0, &[]).unwrap();
    assert!(timed.wait_timeout(Duration::from_millis(1)).is_none());
    let refused = client.request(nack, 0, &[]).unwrap();
    let polled = client.request(keep, 0, &[]).unwrap();
    thread::scope(|scope| {
        let waits = [
            scope.spawn(|| timed.wait_timeout(LONG).unwrap().is_err()),
            scope.spawn(|| refused.wait().is_err()),
            scope.spawn(|| block_on(polled).is_err()),
            // These requests have no credit.
            scope.spawn(|| {
                let later = client
                    .request_with(keep, 0, b"", Backpressure::Queue)
                    .unwrap();
                block_on(later).is_err()
            }),
            scope.spawn(|| {
                loop {
                    if client.request(keep, 0, &[]).is_err() {
                        return true;
                    }
                }
            }),
            scope.spawn(|| {
                client.serve(None);
                client.has_ended()
            }),
        ];
        thread::sleep(Duration::from_millis(60));
        server.close();
        for wait in waits {
            assert!(wait.join().unwrap());
        }
    });
    serving.join().unwrap();
    // The requests own the handlers, and the handlers own the requests; this breaks the cycle.
    kept.lock().unwrap().clear();
}

/// A future that panics when it is dropped. It is ready after the given number of polls.
struct Panics(Option<Request>, u64);

impl Future for Panics {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.1 == 0 {
            if let Some(request) = self.0.take() {
                request.reply(1, &[]);
            }
            return Poll::Ready(());
        }
        self.1 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        if !thread::panicking() {
            std::panic::panic_any(Bomb);
        }
    }
}

/// A panic payload that panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(thread::panicking(), "panic in the drop of a panic payload");
    }
}

fn panics_in_drop_harm_nobody(scheme: &str) {
    let handlers = Handlers::builder()
        .on_async("panics", |request| {
            let turns = request.word();
            Panics(Some(request), turns)
        })
        .on("echo", Request::echo)
        .build();
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &Settings::default());
    let serving = thread::spawn(move || server.serve(None));
    let (panics, echo) = (
        client.handler("panics").unwrap(),
        client.handler("echo").unwrap(),
    );
    for turns in [0, 1, 3] {
        let reply = client.request(panics, turns, &[]).unwrap().wait().unwrap();
        assert_eq!(reply.word, 1);
        client.request(panics, u64::MAX, &[]).unwrap().cancel();
    }
    client.request(echo, 0, &[]).unwrap().wait().unwrap();
    drop(client);
    serving.join().unwrap();
}

/// The async handler of a one-way message is dropped when the connection ends.
fn handlers_of_messages_end_with_the_connection(scheme: &str) {
    let gate = Arc::new(Guarded::new(false));
    let alive = Arc::new(AtomicUsize::new(0));
    let (its, counted) = (gate.clone(), alive.clone());
    let handlers = Handlers::builder()
        .on_async("wait", move |request: Request| {
            counted.fetch_add(1, Ordering::Relaxed);
            let (gate, leaving) = (its.clone(), Leaving(counted.clone()));
            async move {
                drop(gate.when(|open| *open).await);
                drop((request, leaving));
            }
        })
        .build();
    let (client, server) = joined_by(scheme, &Handlers::none(), &handlers, &Settings::default());
    let its = server.clone();
    let serving = thread::spawn(move || its.serve(None));
    let wait = client.handler("wait").unwrap();
    for _ in 0..5 {
        client.send(wait, 0, b"one way").unwrap();
    }
    while alive.load(Ordering::Relaxed) < 5 {
        thread::yield_now();
    }
    drop(client);
    serving.join().unwrap();
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// Random frames of all kinds: a frame that breaks the protocol ends the connection, and does no
/// other harm.
fn random_frames_harm_nobody(scheme: &str) {
    for seed in 0..12 {
        let handlers = Handlers::builder()
            .on("echo", Request::echo)
            .on("nack", Request::nack)
            .on_async("later", |request: Request| async move {
                yield_now().await;
                request.echo();
            })
            .on("drop", drop::<Request>)
            .build();
        let (client, peer) = bare(scheme, &handlers, &Settings::default());
        let noise = bytes(20_000, seed);
        let serving = thread::spawn(move || {
            peer.serve(None);
            while peer.attendant().take_returned().is_some() {}
        });
        let reading = client.clone();
        let read = thread::spawn(move || while reading.recv_message().is_ok() {});
        for chunk in noise.chunks_exact(40) {
            let at = |place: usize| u64::from(chunk[place]);
            // Most frames are valid requests and sends.
            let kind = match chunk[0] % 8 {
                0..4 => REQUEST + u32::from(chunk[0] % 2),
                _ => HELLO + u32::from(chunk[1] % 9),
            };
            let is_strange = chunk[2] < 8;
            let strange = u64::from(is_strange);
            let words = [
                (at(3) * u64::from(kind == REQUEST))
                    | ((at(4) % 6) << 32)
                    | ((strange * at(5)) << 44),
                at(6),
                (strange * at(7)) << 40,
            ];
            let length = if is_strange { 0 } else { chunk[9] };
            let payload = vec![chunk[8]; usize::from(length)];
            let header = Header::new(kind, words);
            if client
                .send_message(header, &[IoSlice::new(&payload)])
                .is_err()
            {
                break;
            }
        }
        client.close();
        serving.join().unwrap();
        read.join().unwrap();
    }
}

over_devices!(inproc shm uds tcp uring: {
    who_does_not_read_is_cut_off
    answers_that_are_too_long_leave_the_windows_whole
    windows_are_whole_after_cancels_at_every_moment
    handlers_that_ask_each_other_without_end_come_to_one
    every_wait_ends_with_the_peer
    panics_in_drop_harm_nobody
    handlers_of_messages_end_with_the_connection
    random_frames_harm_nobody
});

/// Joins a peer that opens with the given hello.
fn hello(words: [u64; 3], table: &[u8]) -> Result<Peer, JoinError> {
    let (client, server) = default_pair("uds");
    thread::scope(|scope| {
        let joining = scope.spawn(|| {
            let mut settings = Settings::default();
            settings.handshake_timeout = Duration::from_secs(10);
            Peer::join(server, &Handlers::none(), settings)
        });
        let _ = client.send_message(Header::new(HELLO, words), &[IoSlice::new(table)]);
        let _ = client.recv_message();
        joining.join().unwrap()
    })
}

#[test]
fn tables_may_be_anything() {
    let entry = |name: &[u8], types: &[u8]| {
        let mut entry = vec![0; 16];
        entry.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
        entry.extend_from_slice(&u16::try_from(types.len()).unwrap().to_le_bytes());
        entry.extend_from_slice(name);
        entry.extend_from_slice(types);
        entry
    };
    let words = [1, 4, 1000];
    let refused = |table: &[u8]| {
        let refused = hello(words, table).unwrap_err();
        assert!(matches!(refused, JoinError::NotActive { .. }), "{refused}");
    };
    refused(&[0]);
    refused(&entry(b"\xff", b""));
    refused(&entry(&[b'a'; 257], b""));
    refused(&entry(b"a", &[b'b'; 513]));
    refused(&vec![0; (1 << 20) + 20]);
    // A table with many empty names, and a table with a duplicate name.
    let peer = hello(words, &vec![0; 20 * 50_000]).unwrap();
    assert!(peer.handler("none").is_err());
    let twice = [entry(b"twice", b"bytes -> bytes"), entry(b"twice", b"")].concat();
    hello(words, &twice).unwrap().handler("twice").unwrap();
    // An error message contains no escape sequences from the peer.
    let escape = hello(words, &entry(b"\x1b[2J", b"\x1b")).unwrap();
    let error = escape.handler("none").unwrap_err().to_string();
    assert!(!error.contains('\x1b'), "{error}");
}

#[test]
fn numbers_of_others_cancel_nothing() {
    let gate = Arc::new(Guarded::new(false));
    let its = gate.clone();
    let handlers = Handlers::builder()
        .on_async("wait", move |request: Request| {
            let gate = its.clone();
            async move {
                drop(gate.when(|open| *open).await);
                request.echo();
            }
        })
        .build();
    let (client, peer) = bare("tcp", &handlers, &Settings::default());
    let say = |kind, number: u64| {
        client
            .send_message(Header::new(kind, [number, 0, 0]), &[])
            .unwrap();
    };
    say(REQUEST, 1);
    say(CANCEL, 2);
    say(CANCEL, u64::from(u16::MAX));
    while peer.poll() > 0 || handlers.counters().moved == 0 {}
    *gate.lock() = true;
    let answer = loop {
        match client.recv_message_within(Duration::ZERO) {
            Ok(answer) => break answer,
            Err(_) => drop(peer.poll()),
        }
    };
    assert_eq!(answer.header.words[0] & 0xffff_ffff, 1);
}

#[test]
fn a_request_that_lost_its_payload_is_not_sent_again() {
    // One handler, "h", of bytes.
    let mut table = vec![0; 16];
    table.extend_from_slice(&[1, 0, 0, 0, b'h']);
    let (client, server) = default_pair("tcp");
    let hello = Header::new(HELLO, [1, 4, 1000]);
    client.send_message(hello, &[IoSlice::new(&table)]).unwrap();
    let peer = Peer::join(server, &Handlers::none(), Settings::default()).unwrap();
    let ticket = peer
        .request(peer.handler("h").unwrap(), 5, b"payload")
        .unwrap();
    assert_eq!(client.recv_message().unwrap().header.kind, HELLO);
    let request = client.recv_message().unwrap().header;
    let number = request.words[0] & 0xffff_ffff;
    // The peer returns the request as busy, without the payload.
    let busy = Header::new(0x6a73_6105, [number | (3 << 32) | (1 << 48), 5, 7]);
    client.send_message(busy, &[]).unwrap();
    match ticket.wait() {
        Err(RequestError::Returned { returned, .. }) => {
            assert_eq!(returned.reason, Reason::Busy);
        }
        other => panic!("{other:?}"),
    }
}
