//! Peers that say what they like of references: leases that end at once, and what they were never given. Both a client
//! that attacks a server, and a server that attacks a client.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[path = "words/mod.rs"]
mod words;

use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jstream::{Transportable, Writer};
use jstream_rmi::{Client, Options, Remotable, Remote, Server, Serving, remote};
use jstream_transport::{Endpoint, Header, Message, connect, listen};

use self::words::{HELLO, REPLY, REQUEST, SEND, table};

/// The handler of messages about references, and the word of a renewal.
const REFERENCES: u64 = 2;
const RENEW: u64 = 1;

/// The number of the first object that a connection looks up.
const OBJECT: u64 = 1;

#[remote]
trait Part {
    fn number(&self) -> u64;
}

#[remote]
trait Shelf {
    fn keep(&self, part: Remote<dyn Part>);
    fn make(&self) -> Remote<dyn Part>;
}

/// The methods of `Shelf`, by their places.
const KEEP: u64 = 0;

#[derive(Default)]
struct Kept(Mutex<Vec<Remote<dyn Part>>>);

struct Number(u64);

impl Part for Number {
    fn number(&self) -> u64 {
        self.0
    }
}

struct Board {
    own: Server,
    kept: Kept,
}

impl Shelf for Board {
    fn keep(&self, part: Remote<dyn Part>) {
        self.kept.0.lock().unwrap().push(part);
    }

    fn make(&self) -> Remote<dyn Part> {
        self.own.export::<dyn Part>(Arc::new(Number(7))).remote()
    }
}

/// The form of a reference in a message.
#[derive(Transportable, Debug)]
#[allow(dead_code, reason = "as the messages have it")]
enum Handed {
    Yours {
        number: u32,
        kept: u64,
    },
    Mine {
        number: u32,
        lease: u32,
        interface: u64,
    },
    Elsewhere {
        key: [u64; 2],
        address: String,
    },
}

/// The answer to a lookup.
#[derive(Transportable, Debug)]
#[allow(dead_code, reason = "as the messages have it")]
#[repr(u8)]
enum Found<'b> {
    Object { number: u32 },
    Unknown,
    Other(&'b str),
}

fn part(number: u32, lease: u32) -> Handed {
    Handed::Mine {
        number,
        lease,
        interface: <dyn Part as Remotable>::interface().id(),
    }
}

fn message<T: Transportable>(of: &T) -> Vec<u8> {
    let bytes = Writer::new().gather(of, |segments| {
        let all = segments.iter().flat_map(|segment| segment.iter().copied());
        all.collect::<Vec<u8>>()
    });
    bytes.unwrap()
}

/// A peer that sends what it likes, once both have said hello.
struct Peer {
    endpoint: Endpoint,
}

impl Peer {
    fn greet(endpoint: Endpoint) -> Self {
        let peer = Self { endpoint };
        peer.send(Header::new(HELLO, [1, 1000, 1 << 30]), &table());
        assert_eq!(peer.endpoint.recv_message().unwrap().header.kind, HELLO);
        peer
    }

    /// One that has looked the shelf up.
    fn of(serving: &Serving) -> Self {
        let peer = Self::greet(connect(serving.address(), &Options::default()).unwrap());
        let interface = <dyn Shelf as Remotable>::interface().id();
        let found = peer.call(0, &message(&("shelf", interface)));
        assert_eq!(found.header.words[1], 0);
        peer
    }

    fn send(&self, header: Header, payload: &[u8]) {
        let segments = [IoSlice::new(payload)];
        self.endpoint.send_message(header, &segments).unwrap();
    }

    /// Makes a call: its answer.
    fn call(&self, word: u64, arguments: &[u8]) -> Message {
        self.send(Header::new(REQUEST, [7, word, 0]), arguments);
        self.receive(REPLY)
    }

    /// The next message of a kind.
    fn receive(&self, kind: u32) -> Message {
        loop {
            let message = self.endpoint.recv_message().unwrap();
            if message.header.kind == kind {
                return message;
            }
        }
    }

    /// The next call answered.
    fn answer(&self, payload: &[u8]) {
        let number = self.receive(REQUEST).header.words[0] & 0xffff_ffff;
        self.send(Header::new(REPLY, [number, 0, 0]), payload);
    }

    /// How many renewals come in some seconds behind the first, and how many may.
    fn renewals(&self) -> (u32, u32) {
        const LOOKED: Duration = Duration::from_secs(3);
        self.receive(SEND);
        let begun = Instant::now();
        let mut count = 0;
        while let Some(left) = LOOKED.checked_sub(begun.elapsed()) {
            match self.endpoint.recv_message_timeout(left) {
                Ok(message) => {
                    let words = message.header.words;
                    let is_renewal = words[..2] == [REFERENCES << 32, RENEW];
                    count += u32::from(message.header.kind == SEND && is_renewal);
                }
                Err(_) => break,
            }
        }
        // At half of the shortest lease.
        let most = begun.elapsed().as_millis() / 500 + 2;
        (count, u32::try_from(most).unwrap())
    }
}

fn serve() -> (Server, Serving, Arc<Board>) {
    let server = Server::default();
    let board = Arc::new(Board {
        own: Server::default(),
        kept: Kept::default(),
    });
    server.bind::<dyn Shelf>("shelf", board.clone()).unwrap();
    let serving = server.listen(&"tcp://127.0.0.1:0".parse().unwrap());
    (server, serving.unwrap(), board)
}

/// A server that does what it is told with the one connection that is made to it.
fn hostile(attack: impl FnOnce(&Peer) + Send + 'static) -> (Client, thread::JoinHandle<()>) {
    let listener = listen(&"tcp://127.0.0.1:0".parse().unwrap(), &Options::default()).unwrap();
    let address = listener.local_address().clone();
    let server = thread::spawn(move || {
        attack(&Peer::greet(
            listener.accept().unwrap().establish().unwrap(),
        ));
    });
    (Client::connect(&address).unwrap(), server)
}

#[test]
fn a_lease_of_no_time_is_not_renewed_without_end_by_a_server() {
    let (_server, serving, board) = serve();
    let peer = Peer::of(&serving);
    for (number, lease) in [(5, 0), (6, 1), (7, u32::MAX)] {
        let kept = peer.call(OBJECT | KEEP << 32, &message(&(part(number, lease),)));
        assert_eq!(kept.header.words[1], 0);
    }
    let (count, most) = peer.renewals();
    assert!(count <= most, "{count} renewals, at most {most}");
    drop(board);
}

#[test]
fn a_lease_of_no_time_is_not_renewed_without_end_by_a_client() {
    let (client, server) = hostile(|peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        peer.answer(&message(&part(5, 0)));
        let (count, most) = peer.renewals();
        assert!(count <= most, "{count} renewals, at most {most}");
    });
    let shelf = client.lookup::<dyn Shelf>("shelf").unwrap();
    let kept = shelf.make().wait().unwrap();
    server.join().unwrap();
    drop(kept);
}
