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
use jstream_rmi::{Client, Options, Remotable, Remote, Server, ServerOptions, Serving, remote};
use jstream_transport::{Endpoint, Header, Message, connect, listen};

use self::words::{HELLO, REPLY, REQUEST, SEND, table};

/// The handler of messages about references, and the word of a renewal.
const REFERENCES: u64 = 2;
const RENEW: u64 = 1;
const CLEAN: u64 = 2;
const OFFER: u64 = 3;

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
const MAKE: u64 = 1;

/// The place of the method by which a registry gives what is offered.
const CLAIM: u64 = 2;

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
        self.own
            .export::<dyn Part>(Arc::new(Number(7)))
            .into_remote()
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

    /// Says something of references.
    fn tell(&self, word: u64, payload: &[u8]) {
        self.send(Header::new(SEND, [REFERENCES << 32, word, 0]), payload);
    }

    /// Gives back a number so many times.
    fn clean(&self, number: u32, times: u64) {
        let bytes = [&number.to_le_bytes()[..], &times.to_le_bytes()].concat();
        self.tell(CLEAN, &bytes);
    }

    /// Has an object claimed by a key, by whoever knows that.
    fn offer(&self, key: [u64; 2], number: u32) {
        let [low, high] = key.map(u64::to_le_bytes);
        let bytes = [&low[..], &high, &number.to_le_bytes()].concat();
        self.tell(OFFER, &bytes);
    }

    /// Claims what is offered: the number that it is given, if there is one.
    fn claim(&self, key: [u64; 2]) -> Option<u32> {
        let interface = <dyn Part as Remotable>::interface().id();
        let found = self.call(CLAIM << 32, &message(&(key, interface)));
        assert_eq!(found.header.words[1], 0);
        (1..100).find(|number| {
            let object = Found::Object { number: *number };
            found.payload.as_bytes() == message(&object)
        })
    }

    /// Has the shelf make a part, which has the next number of the connection.
    fn make(&self) {
        let made = self.call(OBJECT | MAKE << 32, &[]);
        assert_eq!(made.header.words[1], 0);
    }

    /// The code that a call of an object is answered with: 0, or 1 where there is none.
    fn code(&self, object: u32) -> u64 {
        self.call(object.into(), &[]).header.words[1]
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
    let mut options = ServerOptions::default();
    // So that a connection's messages are handled in their order.
    options.threads = 1;
    let server = Server::new(options);
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
    // The references keep their connection, which keeps the server and with it the board.
    board.kept.0.lock().unwrap().clear();
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

/// How many references to parts the server's objects have given.
fn leases(board: &Board) -> usize {
    board.own.references().leases
}

#[test]
fn what_others_have_is_not_taken_from_them() {
    let (_server, serving, board) = serve();
    let (owner, thief) = (Peer::of(&serving), Peer::of(&serving));
    owner.make();
    assert_eq!((owner.code(2), leases(&board)), (0, 1));
    // Given back by one who was never given it, once and twice; renewed, and offered.
    for times in [1, 1, 2, u64::MAX] {
        for number in 0..5 {
            thief.clean(number, times);
        }
        thief.tell(RENEW, &[]);
    }
    thief.offer([7, 8], 2);
    assert_eq!(thief.claim([7, 8]), None);
    // The shelf, which it had, it has lost itself.
    assert_eq!(thief.code(1), 1);
    assert_eq!((owner.code(2), leases(&board)), (0, 1));
    // More than it was given nobody gives back; what it was given it gives back once.
    owner.clean(2, 1 << 40);
    assert_eq!(owner.code(2), 0);
    owner.clean(2, 1);
    owner.clean(2, 1);
    assert_eq!((owner.code(2), leases(&board)), (1, 0));
    owner.make();
    assert_eq!((owner.code(2), owner.code(3), leases(&board)), (1, 0, 1));
}

#[test]
fn what_is_offered_is_claimed_once_and_by_its_key_alone() {
    let (_server, serving, board) = serve();
    let (owner, thief, friend) = (Peer::of(&serving), Peer::of(&serving), Peer::of(&serving));
    owner.make();
    owner.offer([1, 2], 2);
    assert_eq!(owner.code(2), 0);
    for key in [[0, 0], [1, 1], [2, 1], [u64::MAX; 2]] {
        assert_eq!(thief.claim(key), None);
    }
    // Nobody offers something else by the same key.
    thief.make();
    thief.offer([1, 2], 2);
    assert_eq!(thief.code(2), 0);
    owner.clean(2, 1);
    assert_eq!(owner.code(2), 1);
    assert_eq!(friend.claim([1, 2]), Some(2));
    assert_eq!(friend.code(2), 0);
    for peer in [&thief, &friend, &owner] {
        assert_eq!(peer.claim([1, 2]), None);
    }
    // That of the friend, and of the thief its own.
    assert_eq!(leases(&board), 2);
    drop((owner, thief));
    assert_eq!(friend.code(2), 0);
}

/// A server's answer to `make`, which the client does not believe; the client is there afterwards.
fn refuses_result(answer: impl FnOnce(&Peer) + Send + 'static) {
    let (client, server) = hostile(move |peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        answer(peer);
        // The connection goes on.
        peer.answer(&message(&part(5, 60_000)));
        peer.receive(SEND);
    });
    let shelf = client.lookup::<dyn Shelf>("shelf").unwrap();
    shelf.make().wait().unwrap_err();
    let made = shelf.make().wait().unwrap();
    drop(made);
    // What is given back is sent while somebody looks.
    let serving = client.start().unwrap();
    server.join().unwrap();
    drop(serving);
}

#[test]
fn results_that_are_no_references_end_one_call() {
    let other = |number, interface| Handed::Mine {
        number,
        lease: 1000,
        interface,
    };
    let id = <dyn Part as Remotable>::interface().id();
    // Of another interface, without a number, of this client that gave none, and of other types.
    let bad = [
        message(&other(5, id ^ 1)),
        message(&other(0, id)),
        message(&Handed::Yours { number: 3, kept: 9 }),
        message(&Handed::Yours { number: 0, kept: 0 }),
        message(&Handed::Elsewhere {
            key: [1, 2],
            address: "no address at all".to_owned(),
        }),
        message(&7u32),
        vec![0xff; 64],
        Vec::new(),
    ];
    for payload in bad {
        refuses_result(move |peer| peer.answer(&payload));
    }
}

#[test]
fn answers_to_calls_that_nobody_made_end_the_connection() {
    for number in [0u64, 99, 0xffff_ffff] {
        let (client, server) = hostile(move |peer| {
            peer.answer(&message(&Found::Object { number: 1 }));
            peer.receive(REQUEST);
            peer.send(Header::new(REPLY, [number, 0, 0]), &message(&part(5, 0)));
            while peer.endpoint.recv_message().is_ok() {}
        });
        let shelf = client.lookup::<dyn Shelf>("shelf").unwrap();
        shelf.make().wait().unwrap_err();
        shelf.make().wait().unwrap_err();
        server.join().unwrap();
    }
}

#[test]
fn what_a_server_says_of_references_that_it_was_never_given_changes_nothing() {
    let (client, server) = hostile(|peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        for number in [0, 2, 3, 4] {
            peer.clean(number, 1);
            peer.clean(number, u64::MAX);
            peer.offer([1, u64::from(number)], number);
        }
        peer.tell(RENEW, &[]);
        // It takes what it is given, and finds it under its number once.
        let call = peer.receive(REQUEST).header.words[0] & 0xffff_ffff;
        assert_eq!([peer.code(1), peer.code(2)], [0, 1]);
        peer.clean(1, u64::MAX);
        peer.clean(2, 1);
        assert_eq!(peer.code(1), 0);
        peer.send(Header::new(REPLY, [call, 0, 0]), &[]);
        peer.answer(&message(&part(5, 60_000)));
    });
    let own = Server::default();
    let export = own.export::<dyn Part>(Arc::new(Number(3)));
    let shelf = client.lookup::<dyn Shelf>("shelf").unwrap();
    shelf.keep(export.remote()).wait().unwrap();
    assert_eq!(export.references(), 1);
    drop(shelf.make().wait().unwrap());
    server.join().unwrap();
}
