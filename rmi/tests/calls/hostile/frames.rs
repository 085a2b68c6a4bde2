//! Peers that violate the protocol of calls.

use std::io::IoSlice;
use std::sync::Arc;

use jstream::{Transportable, Writer};
use jstream_rmi::{CallError, Client, Options, Remotable, Server, Serving, remote};
use jstream_transport::{Endpoint, Header, Message, RecvError, connect, listen};

use testing::frames::{HELLO, REPLY, REQUEST, RETURN, SEND, table};

#[remote]
trait Echo {
    fn echo(&self, words: &[&str]) -> u64;
    fn bare(&self);
}

struct Plain;

impl Echo for Plain {
    fn echo(&self, words: &[&str]) -> u64 {
        words.len() as u64
    }

    fn bare(&self) {}
}

fn serve() -> Serving {
    let server = Server::default();
    server.bind::<dyn Echo>("echo", Arc::new(Plain)).unwrap();
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

/// The handler for messages about references.
const REFERENCES: u64 = 2;

/// The number of the first object that a connection looks up.
const OBJECT: u64 = 1;

/// A raw peer that can send any frame, after both sides have exchanged their handler tables.
struct Peer {
    endpoint: Endpoint,
}

impl Peer {
    fn of(serving: &Serving) -> Self {
        Self::greet(connect(serving.address(), &Options::default()).unwrap())
    }

    fn greet(endpoint: Endpoint) -> Self {
        let peer = Self { endpoint };
        peer.send(Header::new(HELLO, [1, 1000, 1 << 30]), &table());
        assert_eq!(peer.endpoint.recv_message().unwrap().header.kind, HELLO);
        peer
    }

    fn send(&self, header: Header, payload: &[u8]) {
        let segments = [IoSlice::new(payload)];
        self.endpoint.send_message(header, &segments).unwrap();
    }

    fn send_object<T: Transportable>(&self, header: Header, object: &T) {
        let sent = Writer::new().gather(object, |segments| {
            self.endpoint.send_message(header, segments)
        });
        sent.unwrap().unwrap();
    }

    /// Returns a peer that has looked up the object.
    fn with_object(serving: &Serving) -> Self {
        let peer = Self::of(serving);
        let interface = <dyn Echo as Remotable>::interface().id();
        let bytes = message(&("echo", interface));
        let found = peer.call(0, 0, &bytes);
        assert_eq!((found.header.kind, found.header.words[1]), (REPLY, 0));
        peer
    }

    /// Calls a method of an object and returns the answer.
    fn call(&self, object: u64, method: u64, arguments: &[u8]) -> Message {
        let word = object | method << 32;
        // The header gives nothing back, because replies of the server do not use a window.
        self.send(Header::new(REQUEST, [7, word, 0]), arguments);
        let answer = self.endpoint.recv_message().unwrap();
        assert_eq!(answer.header.words[0] & 0xffff_ffff, 7);
        answer
    }
}

fn message<T: Transportable>(object: &T) -> Vec<u8> {
    let bytes = Writer::new().gather(object, |segments| segments.concat_bytes());
    bytes.unwrap()
}

fn reason(answer: &Message) -> String {
    String::from_utf8(answer.payload.as_bytes().to_vec()).unwrap()
}

/// Checks that another client is still served.
fn assert_serves(serving: &Serving) {
    let client = Client::connect(serving.address()).wait().unwrap();
    let echo = client.lookup::<dyn Echo>("echo").wait().unwrap();
    assert_eq!(*echo.echo(&["a", "b"]).wait().unwrap().get(), 2);
}

#[test]
fn unknown_objects_and_methods_are_refused() {
    let serving = serve();
    let peer = Peer::with_object(&serving);
    for object in [2, 77, u64::from(u32::MAX)] {
        let refused = peer.call(object, 0, b"");
        assert_eq!((refused.header.kind, refused.header.words[1]), (REPLY, 1));
    }
    for method in [2, 3, u64::from(u16::MAX >> 1)] {
        let refused = peer.call(OBJECT, method, b"");
        assert_eq!((refused.header.kind, refused.header.words[1]), (REPLY, 2));
        let known = reason(&refused);
        assert!(
            known.contains("fn echo(&self, words: &[&str]) -> u64"),
            "{known}"
        );
    }
    assert_serves(&serving);
}

#[test]
fn damaged_arguments_end_one_call() {
    let words: &[&str] = &["some", "words"];
    let arguments = Writer::new().gather(&(words,), |segments| segments.concat_bytes());
    let arguments = arguments.unwrap();
    let serving = serve();
    let peer = Peer::with_object(&serving);
    let result = |answer: &Message| (answer.header.kind, answer.header.words[1]);
    assert_eq!(result(&peer.call(OBJECT, 0, &arguments)), (REPLY, 0));
    for at in 0..arguments.len() {
        let mut bytes = arguments.clone();
        bytes[at] ^= 0xff;
        let (kind, code) = result(&peer.call(OBJECT, 0, &bytes));
        assert!(kind == REPLY && [0, 3].contains(&code));
    }
    for end in 0..arguments.len() {
        let refused = peer.call(OBJECT, 0, &arguments[..end]);
        assert_eq!(result(&refused), (REPLY, 3));
        assert!(!reason(&refused).is_empty());
    }
    assert_eq!(result(&peer.call(OBJECT, 0, &arguments)), (REPLY, 0));
    assert_serves(&serving);
}

#[test]
fn a_method_without_arguments_takes_none() {
    let serving = serve();
    let peer = Peer::with_object(&serving);
    let code = |arguments: &[u8]| {
        let answer = peer.call(OBJECT, 1, arguments);
        assert_eq!(answer.header.kind, REPLY);
        answer.header.words[1]
    };
    for _ in 0..3 {
        assert_eq!([code(b""), code(&message(&()))], [0, 0]);
        let wrong = [
            message(&7u64),
            message(&((), ())),
            vec![0; 1],
            vec![0xff; 300],
        ];
        assert_eq!(wrong.map(|arguments| code(&arguments)), [3; 4]);
    }
    assert_serves(&serving);
}

/// The bit of a call's header word for metadata at the end of the payload.
const HAS_METADATA: u64 = 1 << 47;

/// Returns an entry of metadata.
fn metadata_entry(key: &[u8], value: &[u8]) -> Vec<u8> {
    let lengths = [key.len(), value.len()].map(|length| u16::try_from(length).unwrap());
    let lengths = lengths.map(u16::to_le_bytes).concat();
    [&lengths[..], key, value].concat()
}

#[test]
fn malformed_metadata_ends_one_call() {
    let words: &[&str] = &["some", "words"];
    let arguments = message(&(words,));
    let serving = serve();
    let peer = Peer::with_object(&serving);
    // Returns the code of the answer to a call with these entries, of the given length.
    let code = |entries: &[u8], length: u32| {
        let payload = [&arguments[..], entries, &length.to_le_bytes()].concat();
        let word = OBJECT | HAS_METADATA;
        peer.send(Header::new(REQUEST, [7, word, 0]), &payload);
        let answer = peer.endpoint.recv_message().unwrap();
        assert_eq!(answer.header.kind, REPLY);
        let text = String::from_utf8_lossy(answer.payload.as_bytes());
        (answer.header.words[1], text.into_owned())
    };
    let of = |entries: &[u8]| code(entries, u32::try_from(entries.len()).unwrap());
    let valid = [metadata_entry(b"a", b"1"), metadata_entry(b"b", b"")].concat();
    assert_eq!(of(&valid).0, 0);
    assert_eq!(of(b"").0, 0);
    let many = |count: u8| {
        (0..count).flat_map(|n| metadata_entry(&[b'!', 0x61 + n / 16, 0x61 + n % 16], b""))
    };
    assert_eq!(of(&many(32).collect::<Vec<_>>()).0, 0);
    let long = |bytes: usize| metadata_entry(b"k", &vec![b'v'; bytes - 5]);
    assert_eq!(of(&long(4096)).0, 0);
    for (entries, text) in [
        (many(33).collect(), "more than 32 entries"),
        (long(4097), "more than 4096 bytes"),
        (metadata_entry(b"", b"1"), "a key"),
        (metadata_entry(b"Key", b"1"), "a key"),
        (metadata_entry(b"a b", b"1"), "a key"),
        (metadata_entry(&[0xff], b"1"), "not UTF-8"),
        (metadata_entry(b"a", &[0xc3]), "not UTF-8"),
        (
            [metadata_entry(b"a", b"1"), metadata_entry(b"a", b"2")].concat(),
            "twice",
        ),
        (valid[..valid.len() - 1].to_vec(), "longer than all of it"),
        (vec![0xff; 3], "longer than all of it"),
    ] {
        let (refused, why) = of(&entries);
        assert!(refused == 3 && why.contains(text), "{refused}: {why}");
    }
    // Lengths that are not those of the entries.
    for length in [1, 5, 4096, 4097, u32::MAX] {
        let (refused, why) = code(&valid, length);
        assert!(refused == 3 && !why.is_empty(), "{length}: {refused}");
    }
    // Damage gives an error, or metadata of other texts.
    for at in 0..valid.len() {
        let mut damaged = valid.clone();
        damaged[at] ^= 0x20;
        assert!([0, 3].contains(&of(&damaged).0));
    }
    // A payload without room for the length.
    for payload in [&b""[..], b"abc"] {
        let word = OBJECT | HAS_METADATA;
        peer.send(Header::new(REQUEST, [7, word, 0]), payload);
        let answer = peer.endpoint.recv_message().unwrap();
        assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 3));
    }
    assert_eq!(of(&valid).0, 0);
    assert_serves(&serving);
}

trait ConcatBytes {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl ConcatBytes for [IoSlice<'_>] {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter()
            .flat_map(|segment| segment.iter().copied())
            .collect()
    }
}

#[test]
fn what_is_no_call_ends_the_connection() {
    let serving = serve();
    for header in [
        Header::new(0, [0; 3]),
        Header::new(HELLO, [1, 1000, 1000]),
        Header::new(REPLY, [1, 0, 0]),
        Header::new(RETURN, [1, 99, 0]),
        Header::new(u32::MAX, [u64::MAX; 3]),
    ] {
        let peer = Peer::of(&serving);
        peer.send(header, b"payload");
        let error = peer.endpoint.recv_message().unwrap_err();
        assert!(
            matches!(error, RecvError::Closed { .. } | RecvError::Lost { .. }),
            "{error}"
        );
        assert_serves(&serving);
    }
}

#[test]
fn who_tells_no_handlers_is_not_served() {
    let serving = serve();
    for (header, table) in [
        (Header::new(HELLO, [1, 1000, 1000]), &b""[..]),
        (Header::new(HELLO, [1, 1000, 1000]), b"no table at all"),
        (Header::new(HELLO, [9, 1000, 1000]), b""),
        (Header::new(REQUEST, [7, 0, 0]), b""),
    ] {
        let endpoint = connect(serving.address(), &Options::default()).unwrap();
        let segments = [IoSlice::new(table)];
        endpoint.send_message(header, &segments).unwrap();
        let ends = std::iter::repeat_with(|| endpoint.recv_message()).take(3);
        assert!(ends.last().unwrap().is_err());
        assert_serves(&serving);
    }
}

/// Runs a server that answers the first call with `answer`. Returns the error of that call.
fn client_of(name: &str, answer: impl FnOnce(&Peer, u64) + Send + 'static) -> CallError {
    let address = format!("inproc://hostile-{name}").parse().unwrap();
    let listener = listen(&address, &Options::default()).unwrap();
    let server = std::thread::spawn(move || {
        let peer = Peer::greet(listener.accept().unwrap().establish().unwrap());
        let call = peer.endpoint.recv_message().unwrap();
        answer(&peer, call.header.words[0] & 0xffff_ffff);
    });
    let client = Client::connect(&address).wait().unwrap();
    let error = client.registry().list().wait().unwrap_err();
    server.join().unwrap();
    error
}

#[test]
fn servers_are_not_believed() {
    let damaged = client_of("damaged", |peer, number| {
        peer.send(Header::new(REPLY, [number, 0, 0]), &[0xff; 64]);
    });
    assert!(matches!(damaged, CallError::Result { .. }), "{damaged}");
    let other = client_of("other", |peer, number| {
        peer.send_object(Header::new(REPLY, [number, 0, 0]), &7u32);
    });
    assert!(matches!(other, CallError::Result { .. }), "{other}");
    let unasked = client_of("unasked", |peer, number| {
        peer.send(Header::new(REPLY, [number + 9, 0, 0]), &[0; 64]);
    });
    assert!(matches!(unasked, CallError::Lost { .. }), "{unasked}");
    let wordless = client_of("wordless", |peer, number| {
        peer.send(Header::new(REPLY, [number, 3, 0]), b"");
    });
    assert!(
        matches!(&wordless, CallError::Refused { reason, .. } if reason == "no reason given"),
        "{wordless}"
    );
    let wild = client_of("wild", |peer, number| {
        peer.send(Header::new(REPLY, [number, 3, 0]), b"\xff\x1b[2J");
    });
    assert!(!wild.to_string().contains('\x1b'), "{wild}");
    for (name, code) in [("code", 99), ("far-code", u64::MAX)] {
        let unknown = client_of(name, move |peer, number| {
            peer.send(Header::new(REPLY, [number, code, 0]), b"");
        });
        assert!(unknown.to_string().contains("unknown code"), "{unknown}");
    }
    let returned = client_of("returned", |peer, number| {
        peer.send(
            Header::new(RETURN, [number | 99 << 32, 0, 4 << 48]),
            b"why?",
        );
    });
    assert!(returned.to_string().contains("why?"), "{returned}");
}

#[test]
fn a_server_may_call_back_and_finds_nothing() {
    let error = client_of("calls-back", |peer, number| {
        let refused = peer.call(OBJECT, 0, b"");
        assert_eq!((refused.header.kind, refused.header.words[1]), (REPLY, 1));
        peer.send(Header::new(REPLY, [number, 2, 0]), b"nothing");
    });
    assert!(matches!(error, CallError::UnknownMethod { .. }), "{error}");
}

impl Peer {
    /// Sends a message about references.
    fn tell(&self, word: u64, payload: &[u8]) {
        self.send(Header::new(SEND, [REFERENCES << 32, word, 0]), payload);
    }

    /// Calls an object. Returns the code of the answer, or `None` if the connection has ended.
    fn is_answered(&self, object: u64) -> Option<u64> {
        self.send(
            Header::new(REQUEST, [9, object, 0]),
            &message(&(&[][..] as &[&str],)),
        );
        let answer = self.endpoint.recv_message().ok()?;
        (answer.header.kind == REPLY).then_some(answer.header.words[1])
    }
}

fn cleaned(each: impl IntoIterator<Item = (u32, u64)>) -> Vec<u8> {
    let words = each.into_iter();
    let bytes = words.flat_map(|(number, sequence)| {
        let number = number.to_le_bytes().into_iter();
        number.chain(sequence.to_le_bytes())
    });
    bytes.collect()
}

#[test]
fn numbers_of_another_connection_are_no_objects() {
    let serving = serve();
    let (one, other) = (Peer::with_object(&serving), Peer::of(&serving));
    assert_eq!(one.is_answered(OBJECT), Some(0));
    for forged in [1, 2, 3, 1000, u64::from(u32::MAX)] {
        assert_eq!(other.is_answered(forged), Some(1));
    }
    // The other peer cannot release the object either.
    other.tell(
        2,
        &cleaned((0..64).flat_map(|number| [(number, 1), (number, u64::MAX)])),
    );
    assert_eq!(other.is_answered(OBJECT), Some(1));
    assert_eq!(one.is_answered(OBJECT), Some(0));
    assert_serves(&serving);
}

#[test]
fn what_was_given_back_is_gone_and_may_be_said_again() {
    let serving = serve();
    let peer = Peer::with_object(&serving);
    peer.tell(2, &cleaned([(1, u64::MAX), (7, 1), (0, 1)]));
    assert_eq!(peer.is_answered(OBJECT), Some(0), "that was never given");
    for _ in 0..3 {
        peer.tell(2, &cleaned([(1, 1)]));
    }
    assert_eq!(peer.is_answered(OBJECT), Some(1));
    assert_serves(&serving);
}

#[test]
fn renewals_and_offers_of_nothing_change_nothing() {
    let serving = serve();
    let peer = Peer::with_object(&serving);
    for _ in 0..50 {
        peer.tell(1, b"");
        peer.tell(3, &[7; 20]);
    }
    assert_eq!(peer.is_answered(OBJECT), Some(0));
    assert_serves(&serving);
}

#[test]
fn what_is_said_of_references_in_no_known_way_ends_the_connection() {
    for (word, payload) in [
        (0, &b""[..]),
        (4, b""),
        (u64::MAX, b""),
        (1, b"x"),
        (2, &[0; 13]),
        (3, &[0; 19]),
        (3, &[0; 21]),
    ] {
        let serving = serve();
        let peer = Peer::with_object(&serving);
        peer.tell(word, payload);
        assert!(peer.endpoint.recv_message().is_err(), "{word}");
        assert_serves(&serving);
    }
}

#[test]
fn calls_that_nobody_made_are_named_in_vain() {
    const PROMISED: u64 = 1 << 30;
    const PROMISES: u64 = 1 << 31;
    let serving = serve();
    let (peer, other) = (Peer::with_object(&serving), Peer::with_object(&serving));
    let arguments = message(&(&["a", "b"][..] as &[&str],));
    let promising = |number: u32| {
        let interface = <dyn Echo as Remotable>::interface().id().to_le_bytes();
        [&arguments[..], &number.to_le_bytes(), &interface].concat()
    };
    let answer = |peer: &Peer, object, arguments: &[u8]| {
        let header = peer.call(object, 0, arguments).header;
        (header.kind, header.words[1])
    };
    // If the named call has not arrived, the call is held until its own deadline.
    for object in [PROMISED, PROMISED | 5, PROMISES | PROMISED | 5] {
        const SOON: u64 = 1 << 16;
        let back = peer.call(object, SOON, &promising(6)).header;
        assert_eq!((back.kind, back.words[1]), (REPLY, 5), "{object}");
    }
    // A call cannot wait for its own result.
    let own = PROMISES | PROMISED | 7;
    assert_eq!(answer(&peer, own, &promising(7)), (REPLY, 3));
    let made = OBJECT | PROMISES;
    assert_eq!(answer(&peer, made, &promising(8)), (REPLY, 0));
    // Call 8 returned a plain number, so a call of its result fails. Its number cannot be used
    // again.
    assert_eq!(answer(&peer, PROMISED | 8, &arguments), (REPLY, 12));
    assert_eq!(answer(&peer, made, &promising(8)), (REPLY, 3));
    // A held call without a deadline ends after some seconds.
    assert_eq!(answer(&other, PROMISED | 8, &arguments), (REPLY, 12));
    for bad in [&[][..], &[7; 11], &[0xff; 64]] {
        assert_eq!(answer(&peer, made, bad), (REPLY, 3));
    }
    assert_serves(&serving);
}

/// Encodes an entry of metadata.
fn entry(key: &[u8], value: &[u8]) -> Vec<u8> {
    let lengths = [key, value].map(|text| (text.len() as u16).to_le_bytes());
    [&lengths.concat(), key, value].concat()
}

/// Appends metadata and its length.
fn with_metadata(arguments: &[u8], metadata: &[u8]) -> Vec<u8> {
    let length = (metadata.len() as u32).to_le_bytes();
    [arguments, metadata, &length].concat()
}

#[test]
fn invalid_metadata_ends_one_call() {
    const WITH_METADATA: u64 = 1 << 15;
    let serving = serve();
    let peer = Peer::with_object(&serving);
    let bare = 1 | WITH_METADATA;
    let many = |count: u32| -> Vec<u8> {
        let entries = (0..count).map(|place| entry(place.to_string().as_bytes(), b""));
        entries.flatten().collect()
    };
    let large = |more: usize| entry(b"k", &vec![b'v'; 4096 - 5 + more]);
    for (metadata, why) in [
        (b"".to_vec(), "longer than its payload"),
        (u32::MAX.to_le_bytes().to_vec(), "more than 4096 bytes"),
        (1_u32.to_le_bytes().to_vec(), "longer than its payload"),
        (
            with_metadata(b"", &entry(b"", b"v")),
            "a key of the call's metadata is empty",
        ),
        (with_metadata(b"", &entry(b"Key", b"v")), "upper-case"),
        (with_metadata(b"", &entry(b"a b", b"v")), "visible ASCII"),
        (with_metadata(b"", &entry(b"k", b"\xff")), "not UTF-8"),
        (with_metadata(b"", &entry(b"\xff", b"v")), "not UTF-8"),
        (
            with_metadata(b"", &[1, 0, 9, 0, b'k', b'v']),
            "longer than all of it",
        ),
        (with_metadata(b"", &[1, 0]), "longer than all of it"),
        (
            with_metadata(b"", &[entry(b"k", b"1"), entry(b"k", b"2")].concat()),
            "the same key twice",
        ),
        (with_metadata(b"", &many(33)), "more than 32 entries"),
        (with_metadata(b"", &large(1)), "more than 4096 bytes"),
    ] {
        // Also for an object that does not exist, for the reflection, and for the kept results.
        for object in [OBJECT, 77, 0xffff_fffe, 0xffff_fffd] {
            let refused = peer.call(object, bare, &metadata);
            assert_eq!((refused.header.kind, refused.header.words[1]), (REPLY, 3));
            assert!(
                reason(&refused).contains(why),
                "{why}: {}",
                reason(&refused)
            );
        }
    }
    for metadata in [b"".to_vec(), many(32), large(0)] {
        let answer = peer.call(OBJECT, bare, &with_metadata(b"", &metadata));
        assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 0));
        let words = with_metadata(&message(&(&["a", "b"][..],)), &metadata);
        let answer = peer.call(OBJECT, WITH_METADATA, &words);
        assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 0));
        let unknown = peer.call(0xffff_fffd, WITH_METADATA, &with_metadata(b"", &metadata));
        assert_eq!((unknown.header.kind, unknown.header.words[1]), (REPLY, 1));
        // The arguments end where the metadata begins.
        let none = peer.call(OBJECT, WITH_METADATA, &with_metadata(b"", &metadata));
        assert_eq!((none.header.kind, none.header.words[1]), (REPLY, 3));
    }
    // A call that others may name, whose trailer the metadata has swallowed.
    let named = OBJECT | 1 << 31;
    let refused = peer.call(named, bare, &with_metadata(b"short", &many(1)));
    assert_eq!((refused.header.kind, refused.header.words[1]), (REPLY, 3));
    assert_serves(&serving);
}
