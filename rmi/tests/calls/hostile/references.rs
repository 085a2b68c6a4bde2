//! Peers that violate the protocol of references: leases of no time, and references that were never
//! given. Covers both a client that attacks a server and a server that attacks a client.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hmac::{Hmac, Mac};
use jstream::{Transportable, Writer};
use jstream_rmi::{
    Client, Options, Referring, Remotable, Remote, Server, ServerOptions, Serving, remote,
};
use jstream_transport::{Endpoint, Header, Message, connect, listen};
use sha2::Sha256;

use testing::frames::{HELLO, REPLY, REQUEST, SEND, table};
use testing::until;

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
    fn keep_all(&self, parts: Vec<Remote<dyn Part>>, chest: Referring<Chest>);
    fn make_all(&self) -> Vec<Remote<dyn Part>>;
    fn visit(&self, shelf: Remote<dyn Shelf>);
    fn count(&self, cube: &[&[&[Remote<dyn Part>]]]) -> u64;
}

#[derive(Referring)]
enum Chest {
    Empty,
    Parts([Remote<dyn Part>; 2], Vec<Vec<Remote<dyn Part>>>),
}

/// The numbers of the methods of `Shelf`.
const KEEP: u64 = 0;
const MAKE: u64 = 1;
const KEEP_ALL: u64 = 2;
const VISIT: u64 = 4;
const COUNT: u64 = 5;

/// The numbers of the registry's methods that claim an offered object, and return the nonce of an
/// offer.
const CLAIM: u64 = 2;
const NONCE: u64 = 5;

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

    fn keep_all(&self, parts: Vec<Remote<dyn Part>>, chest: Chest) {
        let mut kept = self.kept.0.lock().unwrap();
        kept.extend(parts);
        if let Chest::Parts(parts, more) = chest {
            kept.extend(parts.into_iter().chain(more.into_iter().flatten()));
        }
    }

    fn make_all(&self) -> Vec<Remote<dyn Part>> {
        vec![self.make(), self.make()]
    }

    fn visit(&self, _: Remote<dyn Shelf>) {}

    fn count(&self, cube: &[&[&[Remote<dyn Part>]]]) -> u64 {
        cube.iter()
            .flat_map(|plane| *plane)
            .map(|row| row.len() as u64)
            .sum()
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
    Promised {
        index: u32,
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

/// The answer to a claim.
#[derive(Transportable, Debug)]
struct Claimed<'b> {
    proof: [u64; 4],
    found: Found<'b>,
}

/// Computes a proof of the knowledge of a key, as the protocol has it.
fn proof(key: [u64; 2], role: &[u8], nonces: &[[u64; 4]]) -> [u64; 4] {
    let key: Vec<u8> = key.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(role);
    for word in nonces.iter().flatten() {
        mac.update(&word.to_le_bytes());
    }
    let bytes = mac.finalize().into_bytes();
    [0, 8, 16, 24].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()))
}

fn offer_id(key: [u64; 2]) -> [u64; 2] {
    let [first, second, ..] = proof(key, b"jstream rmi 1 offer", &[]);
    [first, second]
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
    /// Times that each number was given back in the received messages.
    given_back: RefCell<BTreeMap<u32, u64>>,
}

impl Peer {
    fn greet(endpoint: Endpoint) -> Self {
        let peer = Self {
            endpoint,
            given_back: RefCell::default(),
        };
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
        self.claim_by(key, key)
    }

    /// Claims the object that is offered under `key`, as a peer that knows the key `known`.
    fn claim_by(&self, key: [u64; 2], known: [u64; 2]) -> Option<u32> {
        let id = offer_id(key);
        let nonce = self.call(NONCE << 32, &message(&(id,)));
        assert_eq!(nonce.header.words[1], 0);
        let nonce = jstream::from_slice::<Option<[u64; 4]>>(nonce.payload.as_bytes()).unwrap();
        let theirs = (*nonce.get())?;
        let ours = [3, 5, 7, 9];
        let interface = <dyn Part as Remotable>::interface().id();
        let claims = proof(known, b"jstream rmi 1 claimant", &[ours, theirs]);
        let found = self.call(CLAIM << 32, &message(&(id, ours, claims, interface)));
        assert_eq!(found.header.words[1], 0);
        (1..100).find(|number| {
            let claimed = Claimed {
                proof: proof(key, b"jstream rmi 1 owner", &[theirs, ours]),
                found: Found::Object { number: *number },
            };
            found.payload.as_bytes() == message(&claimed)
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
            self.count_given_back(&message);
            if message.header.kind == kind {
                return message;
            }
        }
    }

    /// Counts the references that a message gives back. Such a message may precede the answer of
    /// the call that had the references.
    fn count_given_back(&self, message: &Message) {
        let header = &message.header;
        if header.kind != SEND || header.words[..2] != [REFERENCES << 32, CLEAN] {
            return;
        }
        let mut all = self.given_back.borrow_mut();
        for entry in message.payload.as_bytes().chunks_exact(12) {
            let (number, times) = entry.split_at(4);
            let number = u32::from_le_bytes(number.try_into().unwrap());
            let times = u64::from_le_bytes(times.try_into().unwrap());
            *all.entry(number).or_default() += times;
        }
    }

    /// Waits until `count` references were given back since the last call of this method. Returns
    /// the times for each number.
    fn given_back(&self, count: u64) -> BTreeMap<u32, u64> {
        while self.given_back.borrow().values().sum::<u64>() < count {
            self.receive(SEND);
        }
        self.given_back.take()
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
    (Client::connect(&address).wait().unwrap(), server)
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
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
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
    // Who knows only the identifier of the key gets nothing, and takes nothing away.
    for known in [[0, 0], [2, 1], offer_id([1, 2])] {
        assert_eq!(thief.claim_by([1, 2], known), None);
    }
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

/// A program that listens at the address of a reference does not learn the key, and is not taken
/// for the owner.
#[test]
fn a_key_is_not_sent_to_the_address_of_a_reference() {
    let key = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
    let listener = listen(&"tcp://127.0.0.1:0".parse().unwrap(), &Options::default()).unwrap();
    let address = listener.local_address().to_string();
    let listening = thread::spawn(move || {
        let peer = Peer::greet(listener.accept().unwrap().establish().unwrap());
        let claimed = Claimed {
            proof: [0; 4],
            found: Found::Object { number: 1 },
        };
        let answers = [message(&Some([1u64; 4])), message(&claimed)];
        answers.map(|answer| {
            let asked = peer.receive(REQUEST);
            let number = asked.header.words[0] & 0xffff_ffff;
            peer.send(Header::new(REPLY, [number, 0, 0]), &answer);
            asked.payload.as_bytes().to_vec()
        })
    });
    let handed = Handed::Elsewhere { key, address };
    let (client, server) = hostile(move |peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        peer.answer(&message(&handed));
    });
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
    let error = shelf.make().wait().unwrap_err();
    assert!(error.to_string().contains("not the owner"), "{error}");
    for received in listening.join().unwrap() {
        for word in key {
            let has_word = |part: &[u8]| part == word.to_le_bytes();
            assert!(!received.windows(8).any(has_word), "{received:?}");
        }
    }
    server.join().unwrap();
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
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
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
    // References of another interface, without a number, to objects that the client never gave, to
    // results of its own calls, and with an invalid address; values of other types.
    let bad = [
        message(&other(5, id ^ 1)),
        message(&other(0, id)),
        message(&Handed::Yours { number: 3, kept: 9 }),
        message(&Handed::Yours { number: 0, kept: 0 }),
        message(&Handed::Promised { index: 0 }),
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
        let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
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
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
    shelf.keep(export.remote()).wait().unwrap();
    assert_eq!(export.references(), 1);
    drop(shelf.make().wait().unwrap());
    server.join().unwrap();
}

/// The wire form of `Chest`.
type ChestForm = Result<(), (([Handed; 2], Vec<Vec<Handed>>),)>;

/// A part with another interface.
fn strange(number: u32) -> Handed {
    Handed::Mine {
        number,
        lease: 60_000,
        interface: <dyn Part as Remotable>::interface().id() ^ 1,
    }
}

#[test]
fn refused_arguments_are_given_back_once_each() {
    let good = |number| part(number, 60_000);
    let more = || vec![vec![], vec![good(8), good(9), good(9)]];
    let empty = || -> ChestForm { Ok(()) };
    let full = |first| -> ChestForm { Err((([first, good(7)], more()),)) };
    // The first, a middle and the last reference of a call are invalid, in either argument.
    let bad = [
        message(&(vec![strange(4), good(5), good(6)], full(good(3)))),
        message(&(vec![good(4), strange(5), good(6)], full(good(3)))),
        message(&(vec![good(4), good(5), good(6)], full(strange(3)))),
        message(&(vec![good(4), strange(5), good(6)], full(strange(3)))),
    ];
    let (_server, serving, board) = serve();
    let peer = Peer::of(&serving);
    for arguments in bad {
        let refused = peer.call(OBJECT | KEEP_ALL << 32, &arguments);
        // Bit 32 tells that the references have been received.
        assert_eq!(refused.header.words[1], 1 << 32 | 3);
        let expected = [(3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1), (9, 2)];
        assert_eq!(peer.given_back(8), BTreeMap::from(expected));
    }
    // Arguments that can't be read have no references.
    for arguments in [&[0xff; 64][..], &[]] {
        let refused = peer.call(OBJECT | KEEP_ALL << 32, arguments);
        assert_eq!(refused.header.words[1], 3);
    }
    let kept = peer.call(OBJECT | KEEP_ALL << 32, &message(&(vec![good(4)], empty())));
    assert_eq!(kept.header.words[1], 0);
    let kept = peer.call(
        OBJECT | KEEP_ALL << 32,
        &message(&(vec![good(4)], full(good(3)))),
    );
    assert_eq!(kept.header.words[1], 0);
    board.kept.0.lock().unwrap().clear();
    let expected = [(3, 1), (4, 2), (7, 1), (8, 1), (9, 2)];
    assert_eq!(peer.given_back(7), BTreeMap::from(expected));
}

#[test]
fn slices_of_slices_are_borrowed_only_if_all_references_are_valid() {
    let good = |number| part(number, 60_000);
    let cube = |middle| {
        let plane = vec![vec![good(4)], vec![middle, good(6)], vec![]];
        message(&(vec![vec![], plane, vec![vec![good(7)]]],))
    };
    let (_server, serving, _board) = serve();
    let peer = Peer::of(&serving);
    let word = OBJECT | COUNT << 32;
    let expected = BTreeMap::from([(4, 1), (5, 1), (6, 1), (7, 1)]);
    let refused = peer.call(word, &cube(strange(5)));
    assert_eq!(refused.header.words[1], 1 << 32 | 3);
    assert_eq!(peer.given_back(4), expected);
    let counted = peer.call(word, &cube(good(5)));
    assert_eq!(counted.header.words[1], 0);
    assert_eq!(counted.payload.as_bytes(), message(&4u64));
    assert_eq!(peer.given_back(4), expected);
    // Each damaged byte is read, or ends one call.
    let other = Peer::of(&serving);
    let mut ended = 0;
    for place in 0..cube(good(5)).len() {
        let mut damaged = cube(good(5));
        damaged[place] ^= 0xff;
        ended += u32::from(other.call(word, &damaged).header.words[1] != 0);
    }
    assert!(ended > 0);
    assert_eq!(peer.call(word, &cube(good(5))).header.words[1], 0);
}

#[test]
fn refused_results_are_given_back_once_each() {
    let (client, server) = hostile(|peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        let good = |number| part(number, 60_000);
        peer.answer(&message(&vec![good(4), strange(5), good(6), good(6)]));
        let expected = [(4, 1), (5, 1), (6, 2)];
        assert_eq!(peer.given_back(4), BTreeMap::from(expected));
    });
    let _serves = client.start().unwrap();
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
    shelf.make_all().wait().unwrap_err();
    server.join().unwrap();
}

#[test]
fn refused_arguments_stay_with_a_client_whose_server_did_not_read_them() {
    let (client, server) = hostile(|peer| {
        peer.answer(&message(&Found::Object { number: 1 }));
        for code in [1u64, 2, 3, 5, 7, 10, 11, 12] {
            let number = peer.receive(REQUEST).header.words[0] & 0xffff_ffff;
            peer.send(Header::new(REPLY, [number, code, 0]), b"refused");
        }
        // A server that has received the reference gives it back.
        let number = peer.receive(REQUEST).header.words[0] & 0xffff_ffff;
        peer.send(Header::new(REPLY, [number, 1 << 32 | 3, 0]), b"refused");
        let number = peer.receive(REQUEST).header.words[0] & 0xffff_ffff;
        peer.clean(9, 2);
        peer.send(Header::new(REPLY, [number, 0, 0]), &[]);
        while peer.endpoint.recv_message().is_ok() {}
    });
    let own = Server::default();
    let export = own.export::<dyn Part>(Arc::new(Number(3)));
    let shelf = client.lookup::<dyn Shelf>("shelf").wait().unwrap();
    for _ in 0..8 {
        shelf.keep(export.remote()).wait().unwrap_err();
        assert_eq!((export.references(), own.references().pins), (0, 0));
    }
    shelf.keep(export.remote()).wait().unwrap_err();
    assert_eq!((export.references(), own.references().pins), (1, 0));
    shelf.keep(export.remote()).wait().unwrap();
    until(|| export.references() == 0);
    drop((shelf, client));
    server.join().unwrap();
}

/// Flags of an object's number: other calls may name the call, and results of other calls are among
/// its arguments.
const PROMISES: u64 = 1 << 31;
const PASSES_PROMISED: u64 = 1 << 29;

/// Returns a payload with the numbers of calls behind the arguments.
fn passing(arguments: &[u8], calls: &[u32]) -> Vec<u8> {
    let count = u32::try_from(calls.len()).unwrap();
    let numbers = calls.iter().chain([&count]);
    let numbers = numbers.flat_map(|number| number.to_le_bytes());
    arguments.iter().copied().chain(numbers).collect()
}

/// Returns a payload that ends with the number of its call.
fn promising(payload: &[u8], number: u32, interface: u64) -> Vec<u8> {
    [payload, &number.to_le_bytes(), &interface.to_le_bytes()].concat()
}

#[test]
fn results_that_nobody_promised_are_not_passed() {
    // The time of a call that ends soon.
    const SOON: u64 = 1 << 48;
    const RECEIVED: u64 = 1 << 32;
    let of = <dyn Part as Remotable>::interface().id();
    let (_server, serving, board) = serve();
    let peer = Peer::of(&serving);
    let code = |word: u64, payload: &[u8]| peer.call(word, payload).header.words[1];
    let make = |number: u32, interface: u64| {
        let word = OBJECT | PROMISES | MAKE << 32;
        assert_eq!(code(word, &promising(&[], number, interface)), 0);
    };
    let promised = |index: u32| Handed::Promised { index };
    let keep = OBJECT | PASSES_PROMISED | KEEP << 32;
    let keep_all = OBJECT | PASSES_PROMISED | KEEP_ALL << 32;
    let argument = message(&(promised(0),));
    make(8, of);
    // Calls whose results are passed: the first one is valid.
    assert_eq!(code(keep, &passing(&argument, &[8])), 0);
    assert_eq!(code(keep, &passing(&argument, &[8; 16])), 0);
    for calls in [&[][..], &[8; 17], &[8, 1 << 28], &[u32::MAX]] {
        assert_eq!(code(keep, &passing(&argument, calls)), 3, "{calls:?}");
    }
    for payload in [&[][..], &[1, 0, 0, 0], &[0xff; 64], &argument] {
        assert_eq!(code(keep, payload), 3, "{payload:?}");
    }
    // The arguments name a call that is not behind them, and an object of another interface.
    let beyond = message(&(promised(1),));
    assert_eq!(code(keep, &passing(&beyond, &[8])), RECEIVED | 3);
    assert_eq!(code(OBJECT | KEEP << 32, &argument), RECEIVED | 3);
    let visit = OBJECT | PASSES_PROMISED | VISIT << 32;
    assert_eq!(code(visit, &passing(&argument, &[8])), RECEIVED | 3);
    // A call that returned no reference, one that returned another interface, and one that has not
    // arrived.
    let none = promising(&passing(&argument, &[8]), 9, of);
    assert_eq!(code(keep | PROMISES, &none), 0);
    make(10, of ^ 1);
    for call in [9, 10] {
        assert_eq!(code(keep, &passing(&argument, &[8, call])), 12, "{call}");
    }
    assert_eq!(code(keep | SOON, &passing(&argument, &[8, 99])), 5);
    // A call cannot wait for its own result, and of two that wait for each other, none runs.
    let own = promising(&passing(&argument, &[8, 11]), 11, of);
    assert_eq!(code(keep | PROMISES, &own), 3);
    for (number, other) in [(12, 13), (13, 12)] {
        let payload = promising(&passing(&argument, &[other]), number, of);
        let word = keep | PROMISES | SOON;
        peer.send(Header::new(REQUEST, [number.into(), word, 0]), &payload);
    }
    let ends = [peer.receive(REPLY), peer.receive(REPLY)].map(|reply| reply.header.words[1]);
    assert!(ends.iter().all(|code| [5, 12].contains(code)), "{ends:?}");
    // References beside a promised one are given back if they were received.
    let both = |number| {
        let empty: ChestForm = Ok(());
        message(&(vec![part(number, 60_000), promised(0), promised(7)], empty))
    };
    assert_eq!(code(keep_all, &passing(&both(4), &[8])), RECEIVED | 3);
    assert_eq!(peer.given_back(1), BTreeMap::from([(4, 1)]));
    assert_eq!(code(keep_all, &passing(&both(5), &[9])), 12);
    // An object that the peer has given back cannot be passed.
    make(14, of);
    let count = board.kept.0.lock().unwrap().len();
    assert_eq!(count, 3);
    (2..20).for_each(|number| peer.clean(number, 1));
    assert_eq!(code(keep, &passing(&argument, &[14])), RECEIVED | 3);
    assert_eq!(peer.given_back.borrow().len(), 0);
}
