//! Peers that speak the transport's protocol and not ours.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::io::IoSlice;
use std::sync::Arc;

use jstream::{Reader, Writer};
use jstream_rmi::{CallError, Client, Options, Server, Serving, remote};
use jstream_transport::{Endpoint, Header, Message, RecvError, connect, listen};

#[remote]
trait Echo {
    fn echo(&self, words: &[&str]) -> u64;
}

struct Plain;

impl Echo for Plain {
    fn echo(&self, words: &[&str]) -> u64 {
        words.len() as u64
    }
}

fn serve() -> Serving {
    let server = Server::default();
    server.bind::<dyn Echo>("echo", Arc::new(Plain)).unwrap();
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

/// A peer that sends what it likes.
struct Peer {
    endpoint: Endpoint,
}

impl Peer {
    fn of(serving: &Serving) -> Self {
        Self {
            endpoint: connect(serving.address(), &Options::default()).unwrap(),
        }
    }

    fn ask(&mut self, header: Header, payload: &[u8]) -> Result<Message, RecvError> {
        self.endpoint
            .send_message(header, &[IoSlice::new(payload)])
            .unwrap();
        self.endpoint.recv_message()
    }
}

const CALL: u32 = 1;
const REPLY: u32 = 2;
const ERROR: u32 = 3;

/// The number of the first object that is bound.
const OBJECT: u64 = 1;

/// Another client is served as if nothing were.
fn assert_serves(serving: &Serving) {
    let client = Client::connect(serving.address()).unwrap();
    let echo = client.lookup::<dyn Echo>("echo").unwrap();
    assert_eq!(*echo.echo(&["a", "b"]).wait().unwrap().get(), 2);
}

fn reason(message: Message) -> String {
    let text = Reader::default().read::<String>(message.payload).unwrap();
    text.get().to_string()
}

#[test]
fn unknown_objects_and_methods_are_refused() {
    let serving = serve();
    let mut peer = Peer::of(&serving);
    for object in [2, 77, u64::MAX] {
        let refused = peer.ask(Header::new(CALL, [5, object, 0]), b"").unwrap();
        assert_eq!(
            (refused.header.kind, refused.header.words),
            (ERROR, [5, 1, 0])
        );
    }
    for method in [0, 1, u64::MAX] {
        let refused = peer
            .ask(Header::new(CALL, [6, OBJECT, method]), b"")
            .unwrap();
        assert_eq!(
            (refused.header.kind, refused.header.words),
            (ERROR, [6, 2, 0])
        );
        let known = reason(refused);
        assert!(
            known.contains("fn echo(&self, words: &[&str]) -> u64"),
            "{known}"
        );
    }
    assert_serves(&serving);
}

/// The id of `echo`, as a client that was recorded would show it.
fn recorded_call() -> (Header, Vec<u8>) {
    let listener = listen(&"inproc://recorder".parse().unwrap(), &Options::default()).unwrap();
    let recorder = std::thread::spawn(move || {
        let endpoint = listener.accept().unwrap().establish().unwrap();
        // The lookup: any object will do.
        let lookup = endpoint.recv_message().unwrap();
        let reply = Header::new(REPLY, [lookup.header.words[0], 0, 0]);
        let found = jstream_rmi::Found::Object(OBJECT);
        Writer::new()
            .gather(&found, |segments| endpoint.send_message(reply, segments))
            .unwrap()
            .unwrap();
        let call = endpoint.recv_message().unwrap();
        // A reply that is no u64, and ends the client's wait.
        let reply = Header::new(REPLY, [call.header.words[0], 0, 0]);
        endpoint
            .send_message(reply, &[IoSlice::new(b"no message at all")])
            .unwrap();
        (call.header, call.payload.as_bytes().to_vec())
    });
    let client = Client::connect(&"inproc://recorder".parse().unwrap()).unwrap();
    let echo = client.lookup::<dyn Echo>("echo").unwrap();
    let error = echo.echo(&["some", "words"]).wait().unwrap_err();
    assert!(matches!(error, CallError::Result { .. }), "{error}");
    recorder.join().unwrap()
}

#[test]
fn damaged_arguments_end_one_call() {
    let (header, arguments) = recorded_call();
    let serving = serve();
    let mut peer = Peer::of(&serving);
    let reply = peer.ask(header, &arguments).unwrap();
    assert_eq!(reply.header.kind, REPLY);
    for at in 0..arguments.len() {
        let mut bytes = arguments.clone();
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 0xff;
        }
        let answer = peer.ask(header, &bytes).unwrap();
        assert!([REPLY, ERROR].contains(&answer.header.kind));
    }
    for end in 0..arguments.len() {
        let refused = peer.ask(header, arguments.get(..end).unwrap()).unwrap();
        assert_eq!((refused.header.kind, refused.header.words[1]), (ERROR, 3));
        assert!(!reason(refused).is_empty());
    }
    // The same number again and again is the caller's own affair.
    assert_eq!(peer.ask(header, &arguments).unwrap().header.kind, REPLY);
    assert_serves(&serving);
}

#[test]
fn what_is_no_call_ends_the_connection() {
    let serving = serve();
    for header in [
        Header::new(0, [0; 3]),
        Header::new(REPLY, [1, 0, 0]),
        Header::new(ERROR, [1, 1, 0]),
        Header::new(ERROR, [1, 99, 0]),
        Header::new(u32::MAX, [u64::MAX; 3]),
    ] {
        let error = Peer::of(&serving).ask(header, b"payload").unwrap_err();
        assert!(
            matches!(error, RecvError::Closed { .. } | RecvError::Lost { .. }),
            "{error}"
        );
        assert_serves(&serving);
    }
}

/// A server that answers what it likes.
fn client_of(
    address: &str,
    answer: impl FnOnce(u64) -> (Header, Vec<u8>) + Send + 'static,
) -> String {
    let address = address.parse().unwrap();
    let listener = listen(&address, &Options::default()).unwrap();
    let server = std::thread::spawn(move || {
        let endpoint = listener.accept().unwrap().establish().unwrap();
        let (header, payload) = answer(endpoint.recv_message().unwrap().header.words[0]);
        endpoint
            .send_message(header, &[IoSlice::new(&payload)])
            .unwrap();
    });
    let client = Client::connect(&address).unwrap();
    let error = client.registry().list().wait().unwrap_err();
    server.join().unwrap();
    error.to_string()
}

#[test]
fn replies_that_nobody_asked_for_change_nothing() {
    let address = "inproc://unasked-then-asked".parse().unwrap();
    let listener = listen(&address, &Options::default()).unwrap();
    let server = std::thread::spawn(move || {
        let endpoint = listener.accept().unwrap().establish().unwrap();
        let number = endpoint.recv_message().unwrap().header.words[0];
        let mut writer = Writer::new();
        for (number, name) in [(number + 9, "wrong"), (0, "wrong"), (number, "right")] {
            let reply = Header::new(REPLY, [number, 0, 0]);
            writer
                .gather(&vec![name], |segments| {
                    endpoint.send_message(reply, segments)
                })
                .unwrap()
                .unwrap();
        }
    });
    let client = Client::connect(&address).unwrap();
    assert_eq!(*client.registry().list().wait().unwrap().get(), ["right"]);
    server.join().unwrap();
}

#[test]
fn servers_are_not_believed() {
    let damaged = client_of("inproc://damaged", |number| {
        (Header::new(REPLY, [number, 0, 0]), vec![0xff; 64])
    });
    assert_eq!(damaged, "the result of list is damaged");
    let unasked = client_of("inproc://unasked", |number| {
        (
            Header::new(REPLY, [number.wrapping_add(9), 0, 0]),
            vec![0; 64],
        )
    });
    assert!(unasked.contains("lost"), "{unasked}");
    let backwards = client_of("inproc://backwards", |number| {
        (Header::new(CALL, [number, 0, 0]), Vec::new())
    });
    assert!(backwards.contains("what is no reply"), "{backwards}");
    let wordless = client_of("inproc://wordless", |number| {
        (Header::new(ERROR, [number, 3, 0]), vec![0xff; 64])
    });
    assert!(wordless.contains("no reason given"), "{wordless}");
}
