//! Limits of a server over all its clients, and for clients that do not read.

use std::io::IoSlice;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jstream::Writer;
use jstream_rmi::{
    Address, CallError, Client, ClientOptions, Options, Outcome, Remotable, Remote, Server,
    ServerOptions, Serving, remote,
};
use jstream_transport::{Endpoint, Header, connect};

use testing::frames::{HELLO, REPLY, REQUEST, table};
use testing::until;

#[remote]
trait Load {
    fn bytes(&self, length: u64) -> Vec<u8>;
    async fn wait(&self);
    /// Makes `count` calls of `from` at once. Returns the total number of received bytes.
    fn pull(&self, from: Remote<dyn Load>, count: u64) -> u64;
}

/// Length of each result that `pull` requests, in bytes.
const LENGTH: u64 = 256 << 10;

struct Plain;

#[remote]
impl Load for Plain {
    fn bytes(&self, length: u64) -> Vec<u8> {
        vec![7; usize::try_from(length).unwrap()]
    }

    async fn wait(&self) {
        std::future::pending().await
    }

    fn pull(&self, from: Remote<dyn Load>, count: u64) -> u64 {
        let calls: Vec<_> = (0..count).map(|_| from.bytes(LENGTH)).collect();
        let each = calls.into_iter();
        each.map(|call| call.wait().unwrap().get().len() as u64)
            .sum()
    }
}

fn server(options: ServerOptions) -> Server {
    let server = Server::new(options);
    server.bind::<dyn Load>("load", Arc::new(Plain)).unwrap();
    server
}

fn tcp() -> Address {
    "tcp://127.0.0.1:0".parse().unwrap()
}

#[test]
fn listeners_share_the_places() {
    let mut options = ServerOptions::default();
    options.max_connections = 3;
    let server = server(options);
    let inproc: Address = "inproc://limits-places".parse().unwrap();
    let first = server.listen_all(&[tcp(), inproc.clone()]).unwrap();
    let second = server.listen(&tcp()).unwrap();
    assert_eq!(first.address(), &first.addresses()[0]);
    assert_eq!(first.addresses()[1], inproc);

    let clients = [&first.addresses()[0], &inproc, second.address()].map(|address| {
        let client = Client::connect(address).wait().unwrap();
        let load = client.lookup::<dyn Load>("load").wait().unwrap();
        (client, load)
    });
    for address in [first.address(), &inproc, second.address()] {
        let refused = Client::connect(address).wait().unwrap_err().to_string();
        assert!(refused.contains("the limit is 3"), "{refused}");
        assert!(refused.contains("max_connections"), "{refused}");
    }
    until(|| server.health().refused_connections == 3);
    let (client, _) = &clients[0];
    let health = *client.reflection().health().wait().unwrap().get();
    assert_eq!((health.connections, health.refused_connections), (3, 3));
    // A connection slot that was freed at one listener can be used at any of them.
    let [one, .., last] = clients;
    drop(one);
    let again = || Client::connect(&inproc).wait().ok();
    let again = std::iter::repeat_with(|| {
        thread::sleep(Duration::from_millis(1));
        again()
    });
    let again = again.flatten().next().unwrap();
    again.lookup::<dyn Load>("load").wait().unwrap();
    drop(last);
}

#[test]
fn one_source_takes_its_own_places_only() {
    let mut options = ServerOptions::default();
    options.max_connections_per_source = 2;
    let server = server(options);
    let uds: Address = "uds://@limits-sources".parse().unwrap();
    let serving = server.listen_all(&[tcp(), uds.clone()]).unwrap();
    let kept = [(); 2].map(|()| {
        let client = Client::connect(serving.address()).wait().unwrap();
        client.lookup::<dyn Load>("load").wait().unwrap()
    });
    for _ in 0..3 {
        let refused = Client::connect(serving.address()).wait().unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("the limit is 2"), "{text}");
        assert!(text.contains("max_connections_per_source"), "{text}");
    }
    // A client learns of the limit before its connection is counted as refused.
    until(|| {
        let health = server.health();
        (health.connections, health.refused_connections) == (2, 3)
    });
    // Another source has places of its own.
    let local = [(); 2].map(|()| Client::connect(&uds).wait().unwrap());
    assert!(Client::connect(&uds).wait().is_err());
    for client in &local {
        client.lookup::<dyn Load>("load").wait().unwrap();
    }
    // Places of connections that have ended are free again.
    drop(kept);
    until(|| server.health().connections == 2);
    let again = [(); 2].map(|()| Client::connect(serving.address()).wait().unwrap());
    assert!(Client::connect(serving.address()).wait().is_err());
    drop((again, local));
}

#[test]
fn silent_peers_take_few_places_and_for_a_while_only() {
    let mut options = ServerOptions::default();
    options.max_greeting = 2;
    // Long enough for peers that complete the handshake.
    options.transport.handshake_timeout = Duration::from_secs(2);
    let server = server(options);
    let serving = server.listen(&tcp()).unwrap();
    let address = serving.address().to_string();
    let address = address.strip_prefix("tcp://").unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let refused = || {
        client
            .reflection()
            .health()
            .wait()
            .unwrap()
            .get()
            .refused_connections
    };

    let silent: Vec<_> = (0..20)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    until(|| refused() > 0);
    // Silent peers occupy the slots for a limited time only, and other peers are served meanwhile.
    let another = std::iter::repeat_with(|| {
        thread::sleep(Duration::from_millis(1));
        Client::connect(serving.address()).wait().ok()
    });
    let another = another.flatten().next().unwrap();
    let load = another.lookup::<dyn Load>("load").wait().unwrap();
    assert_eq!(load.bytes(3).wait().unwrap().get(), &[7, 7, 7]);
    drop(silent);
}

/// Silent peers connect continuously and stay connected. Each of them evicts an older one, and
/// peers that complete the handshake are served.
#[test]
fn a_flood_of_silent_peers_locks_nobody_out() {
    let mut options = ServerOptions::default();
    options.max_greeting = 8;
    // With such timeouts, only new connections evict old ones.
    options.transport.handshake_timeout = Duration::from_secs(3600);
    options.messages.handshake_timeout = Duration::from_secs(3600);
    let server = server(options);
    let serving = server.listen(&tcp()).unwrap();
    let uri = serving.address().to_string();
    let address = uri.strip_prefix("tcp://").unwrap();
    let (stops, opened) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut silent = Vec::new();
            while !stops.load(Ordering::SeqCst) {
                silent.extend(TcpStream::connect(address));
                opened.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(20));
            }
        });
        until(|| opened.load(Ordering::SeqCst) > 30);
        let honest: Vec<_> = (0..20)
            .map(|_| {
                scope.spawn(|| {
                    let mut found = None;
                    // So many honest clients evict one another, too. One may learn of that after it
                    // has connected.
                    until(|| {
                        let client = Client::connect(serving.address()).wait().ok();
                        found = client.and_then(|of| of.lookup::<dyn Load>("load").wait().ok());
                        found.is_some()
                    });
                    let load = found.unwrap();
                    load.bytes(3).wait().unwrap().get().len()
                })
            })
            .collect();
        for client in honest {
            assert_eq!(client.join().unwrap(), 3);
        }
        stops.store(true, Ordering::SeqCst);
    });
    assert!(server.health().refused_connections > 0);
}

/// Failed connections delay no calls, and no other client is refused.
#[test]
fn connections_that_come_to_nothing_hold_up_no_calls() {
    let server = server(ServerOptions::default());
    let serving = server.listen(&tcp()).unwrap();
    let address = serving.address().to_string();
    let address = address.strip_prefix("tcp://").unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let load = client.lookup::<dyn Load>("load").wait().unwrap();
    for _ in 0..20 {
        for _ in 0..20 {
            drop(TcpStream::connect(address).unwrap());
        }
        assert_eq!(load.bytes(2).wait().unwrap().get(), &[7, 7]);
    }
    let another = std::iter::repeat_with(|| Client::connect(serving.address()).wait().ok());
    let another = another.flatten().next().unwrap();
    let load = another.lookup::<dyn Load>("load").wait().unwrap();
    assert_eq!(load.bytes(3).wait().unwrap().get(), &[7, 7, 7]);
}

#[test]
fn methods_that_wait_are_counted_over_all_connections() {
    let mut options = ServerOptions::default();
    options.max_waiting_in_all = 3;
    let server = server(options);
    let serving = server.listen(&tcp()).unwrap();
    let mut options = ClientOptions::default();
    options.messages.retries = 1;
    let clients = [(); 2].map(|()| {
        Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap()
    });
    let [one, other] = clients.map(|client| client.lookup::<dyn Load>("load").wait().unwrap());
    let mut waits = vec![one.wait(), one.wait(), other.wait()];
    let client = Client::connect(serving.address()).wait().unwrap();
    let waiting = || client.reflection().health().wait().unwrap().get().waiting;
    until(|| waiting() == 3);
    for load in [&one, &other] {
        let busy = load.wait().wait().unwrap_err();
        assert!(matches!(busy, CallError::Busy { .. }), "{busy}");
        assert_eq!(busy.outcome(), Outcome::DidNotRun);
    }
    // A client without waiting calls is served as usual, and may have one waiting call.
    let load = client.lookup::<dyn Load>("load").wait().unwrap();
    assert_eq!(load.bytes(1).wait().unwrap().get(), &[7]);
    let its_own = load.wait();
    until(|| {
        Client::connect(serving.address())
            .wait()
            .is_ok_and(|watch| watch.reflection().health().wait().unwrap().get().waiting == 4)
    });
    drop(its_own);
    // There is room again when the cancelled calls have ended.
    waits.clear();
    until(|| one.bytes(1).wait().is_ok());
}

const OBJECT: u64 = 1;

/// Returns a raw peer that has looked up the object. It reads answers only when the test does.
fn greeted(serving: &Serving) -> Endpoint {
    let endpoint = connect(serving.address(), &Options::default()).unwrap();
    let table = table();
    let segments = [IoSlice::new(&table)];
    let hello = Header::new(HELLO, [1, 1000, 1 << 30]);
    endpoint.send_message(hello, &segments).unwrap();
    assert_eq!(endpoint.recv_message().unwrap().header.kind, HELLO);
    let lookup = ("load", <dyn Load as Remotable>::interface().id());
    let header = Header::new(REQUEST, [7, 0, 0]);
    let sent = Writer::new().gather(&lookup, |segments| endpoint.send_message(header, segments));
    sent.unwrap().unwrap();
    assert_eq!(endpoint.recv_message().unwrap().header.words[1], 0);
    endpoint
}

/// Length of each answer that is not read, in bytes.
const MUCH: u64 = 1 << 20;

#[test]
fn who_does_not_read_is_answered_to_a_limit() {
    let mut options = ServerOptions::default();
    options.max_backlog = 4 << 20;
    let pool = options.transport.pool.clone();
    let server = server(options);
    let serving = server.listen(&tcp()).unwrap();
    let client = Client::connect(serving.address()).wait().unwrap();
    let load = client.lookup::<dyn Load>("load").wait().unwrap();

    let calls = 200u64;
    let peer = greeted(&serving);
    for number in 0..calls {
        let header = Header::new(REQUEST, [number, OBJECT, 0]);
        let sent = Writer::new().gather(&(MUCH,), |segments| peer.send_message(header, segments));
        sent.unwrap().unwrap();
    }
    let kept = || -> usize {
        let classes = pool.class_stats();
        classes
            .map(|class| class.capacity * class.stats.in_use)
            .sum()
    };
    until(|| kept() > 4 << 20);
    // Other clients are served, and no more answers are made for this peer.
    for _ in 0..200 {
        assert_eq!(load.bytes(2).wait().unwrap().get().len(), 2);
    }
    // Beyond the backlog there are one answer per thread, in jbufs of up to twice its size, and the
    // bytes in the connection. All answers together would be at least 200 MiB.
    assert!(kept() < 64 << 20, "{} bytes are kept", kept());

    // All calls are answered once the peer reads.
    let mut answered: Vec<_> = (0..calls)
        .map(|_| {
            let answer = peer.recv_message().unwrap();
            assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 0));
            assert!(kept() < 64 << 20, "{} bytes are kept", kept());
            answer.header.words[0] & 0xffff_ffff
        })
        .collect();
    answered.sort_unstable();
    assert!(answered.into_iter().eq(0..calls));
    let health = *client.reflection().health().wait().unwrap().get();
    assert_eq!(health.refused_calls, 0);
    drop(peer);
    until(|| pool.stats().in_use == 0);
    assert_eq!(load.bytes(2).wait().unwrap().get().len(), 2);
}

/// Calls that are deferred until their caller reads are dropped with the connection and never run.
#[test]
fn what_waits_for_its_caller_ends_with_it() {
    let mut options = ServerOptions::default();
    options.max_backlog = 1 << 20;
    let pool = options.transport.pool.clone();
    let server = server(options);
    let serving = server.listen(&tcp()).unwrap();
    let peer = greeted(&serving);
    for number in 0..100 {
        let header = Header::new(REQUEST, [number, OBJECT, 0]);
        let length = (4u64 << 20,);
        let sent = Writer::new().gather(&length, |segments| peer.send_message(header, segments));
        sent.unwrap().unwrap();
    }
    until(|| pool.stats().in_use > 0);
    drop(peer);
    until(|| pool.stats().in_use == 0);
    assert_eq!(serving.shutdown(Duration::from_secs(60)).wait().cut_off, 0);
}

/// Each side has to send far more than the backlog limit of the other side, in both directions at
/// once.
#[test]
fn both_sides_answer_much_at_once() {
    for address in [
        "tcp://127.0.0.1:0".to_owned(),
        "inproc://limits-both".to_owned(),
        format!("shm://limits-both-{}", std::process::id()),
    ] {
        let mut options = ServerOptions::default();
        options.max_backlog = 64 << 10;
        let server = server(options);
        let serving = server.listen(&address.parse().unwrap()).unwrap();
        let mut options = ClientOptions::default();
        options.max_backlog = 64 << 10;
        let client = Client::connect_with(serving.address(), &options)
            .wait()
            .unwrap();
        let load = client.lookup::<dyn Load>("load").wait().unwrap();
        let own = Server::default();
        let export = own.export::<dyn Load>(Arc::new(Plain));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let pulls: Vec<_> = (0..4).map(|_| load.pull(export.remote(), 20)).collect();
                    let calls: Vec<_> = (0..40).map(|_| load.bytes(LENGTH)).collect();
                    for call in calls {
                        assert_eq!(call.wait().unwrap().get().len() as u64, LENGTH);
                    }
                    for pull in pulls {
                        assert_eq!(*pull.wait().unwrap().get(), 20 * LENGTH);
                    }
                });
            }
        });
        let health = *client.reflection().health().wait().unwrap().get();
        assert_eq!(health.refused_calls, 0);
    }
}
