//! Peers that violate the protocol of references: leases of no time, and references that were never
//! given. Covers both a client that attacks a server and a server that attacks a client.

use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jstream::{Transportable, Writer};
use jstream_rmi::{Client, Options, Remotable, Remote, Server, ServerOptions, Serving, remote};
use jstream_transport::{Endpoint, Header, Message, connect, listen};

use testing::frames::{HELLO, REPLY, REQUEST, SEND, table};

/// The handler for messages about references, and the kinds of these messages.
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

/// The numbers of the methods of `Shelf`.
const KEEP: u64 = 0;
const MAKE: u64 = 1;

/// The number of the registry's method that claims an offered object.
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

/// The wire form of a reference.
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

/// A raw peer that can send any frame, after both sides have exchanged their handler tables.
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

    /// Returns a peer that has looked up the shelf.
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

    /// Makes a call and returns its answer.
    fn call(&self, word: u64, arguments: &[u8]) -> Message {
        self.send(Header::new(REQUEST, [7, word, 0]), arguments);
        self.receive(REPLY)
    }

    /// Sends a message about references.
    fn tell(&self, word: u64, payload: &[u8]) {
        self.send(Header::new(SEND, [REFERENCES << 32, word, 0]), payload);
    }

    /// Releases a number `times` times.
    fn clean(&self, number: u32, times: u64) {
        let bytes = [&number.to_le_bytes()[..], &times.to_le_bytes()].concat();
        self.tell(CLEAN, &bytes);
    }

    /// Offers an object, so that any peer that knows the key may claim it.
    fn offer(&self, key: [u64; 2], number: u32) {
        let [low, high] = key.map(u64::to_le_bytes);
        let bytes = [&low[..], &high, &number.to_le_bytes()].concat();
        self.tell(OFFER, &bytes);
    }

    /// Claims an offered object. Returns the number that the peer is given, if there is one.
    fn claim(&self, key: [u64; 2]) -> Option<u32> {
        let interface = <dyn Part as Remotable>::interface().id();
        let found = self.call(CLAIM << 32, &message(&(key, interface)));
        assert_eq!(found.header.words[1], 0);
        (1..100).find(|number| {
            let object = Found::Object { number: *number };
            found.payload.as_bytes() == message(&object)
        })
    }

    /// Makes the shelf create a part, which gets the next number of the connection.
    fn make(&self) {
        let made = self.call(OBJECT | MAKE << 32, &[]);
        assert_eq!(made.header.words[1], 0);
    }

    /// Calls an object. Returns the code of the answer: 0, or 1 if there is no such object.
    fn code(&self, object: u32) -> u64 {
        self.call(object.into(), &[]).header.words[1]
    }

    /// Returns the next message of this kind and discards those before it.
    fn receive(&self, kind: u32) -> Message {
        loop {
            let message = self.endpoint.recv_message().unwrap();
            if message.header.kind == kind {
                return message;
            }
        }
    }

    /// Answers the next call.
    fn answer(&self, payload: &[u8]) {
        let number = self.receive(REQUEST).header.words[0] & 0xffff_ffff;
        self.send(Header::new(REPLY, [number, 0, 0]), payload);
    }

    /// Returns the number of renewals within some seconds after the first, and the permitted
    /// number.
    fn renewals(&self) -> (u32, u32) {
        const LOOKED: Duration = Duration::from_secs(3);
        self.receive(SEND);
        let begun = Instant::now();
        let mut count = 0;
        while let Some(left) = LOOKED.checked_sub(begun.elapsed()) {
            match self.endpoint.recv_message_within(left) {
                Ok(message) => {
                    let words = message.header.words;
                    let is_renewal = words[..2] == [REFERENCES << 32, RENEW];
                    count += u32::from(message.header.kind == SEND && is_renewal);
                }
                Err(_) => break,
            }
        }
        // Leases are renewed at half of their time, and the shortest lease is one second.
        let most = begun.elapsed().as_millis() / 500 + 2;
        (count, u32::try_from(most).unwrap())
    }
}

fn serve() -> (Server, Serving, Arc<Board>) {
    let mut options = ServerOptions::default();
    // With one thread, the messages of a connection are handled in order.
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

/// Starts a server that runs `attack` on a single connection, and connects a client to it.
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
    // The references keep their connection alive, which keeps the server and the board alive.
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

/// Returns the number of leases on parts.
fn leases(board: &Board) -> usize {
    board.own.references().leases
}

#[test]
fn what_others_have_is_not_taken_from_them() {
    let (_server, serving, board) = serve();
    let (owner, thief) = (Peer::of(&serving), Peer::of(&serving));
    owner.make();
    assert_eq!((owner.code(2), leases(&board)), (0, 1));
    // The thief releases references that it was never given, renews its lease and offers the
    // object.
    for times in [1, 1, 2, u64::MAX] {
        for number in 0..5 {
            thief.clean(number, times);
        }
        thief.tell(RENEW, &[]);
    }
    thief.offer([7, 8], 2);
    assert_eq!(thief.claim([7, 8]), None);
    // The thief has only released its own reference to the shelf.
    assert_eq!(thief.code(1), 1);
    assert_eq!((owner.code(2), leases(&board)), (0, 1));
    // Releasing more references than were given has no effect, and a valid release takes effect
    // once.
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
    // A second offer with the same key is ignored.
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
    // One of the friend, and one of the thief for its own part.
    assert_eq!(leases(&board), 2);
    drop((owner, thief));
    assert_eq!(friend.code(2), 0);
}

/// Checks that the client rejects this answer to `make`, and that the connection works afterwards.
fn refuses_result(answer: impl FnOnce(&Peer) + Send + 'static) {
    let (client, server) = hostile(move |peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        answer(peer);
        // The connection still works.
        peer.answer(&message(&part(5, 60_000)));
        peer.receive(SEND);
    });
    let shelf = client.lookup::<dyn Shelf>("shelf").unwrap();
    shelf.make().wait().unwrap_err();
    let made = shelf.make().wait().unwrap();
    drop(made);
    // The client sends the release while it receives.
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
    // References of another interface, without a number, to objects that the client never gave, and
    // with an invalid address; values of other types.
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
        // The server was given one reference, and only this number can be called. Invalid releases
        // do not remove it.
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
