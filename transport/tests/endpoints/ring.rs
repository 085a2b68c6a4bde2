//! Nodes in a ring pass one object along. Each node changes the object in place, and forwards the
//! jbuf in which it arrived.

use std::iter;
use std::thread;

use jstream::{MessageBuffer, Pool, Reader, Transportable, Writer};
use jstream_transport::{Endpoint, Header, Options};
use testing::transport::pair;

#[derive(Transportable)]
struct Token {
    hops: u64,
    last: Option<u32>,
    owner: String,
    #[transportable(exclusive)]
    visits: Vec<u64>,
    notes: Vec<Note>,
}

#[derive(Transportable)]
struct Note {
    text: String,
    next: Option<Box<Note>>,
}

const NODES: u32 = 4;
const ROUNDS: u64 = 200;

fn note(i: u64) -> Note {
    let next = Note {
        text: "…".to_owned(),
        next: None,
    };
    Note {
        text: format!("note {i}"),
        next: (i % 2 == 0).then(|| Box::new(next)),
    }
}

/// Reads the token, changes it, and turns it into a message again. Returns `None` after the last
/// round.
fn visit(
    node: u32,
    message: MessageBuffer,
    reader: &mut Reader,
    writer: &mut Writer,
) -> Option<MessageBuffer> {
    let mut token = reader.read::<Token>(message).unwrap();
    token.with_mut(|token| {
        let before = node
            .checked_sub(1)
            .or((token.hops > 0).then_some(NODES - 1));
        assert_eq!((token.last, token.owner), (before, "ring"));
        assert_eq!(token.hops % u64::from(NODES), u64::from(node));
        token.hops += 1;
        token.last = Some(node);
        token.visits[node as usize] += 1;
    });
    if token.get().hops == ROUNDS * u64::from(NODES) {
        let token = token.get();
        assert_eq!(token.visits, [ROUNDS; NODES as usize]);
        assert_eq!(token.notes.len(), 50);
        for (note, i) in token.notes.iter().zip(0..) {
            assert_eq!(note.text, format!("note {i}"));
            assert_eq!(note.next.map(|next| next.text), (i % 2 == 0).then_some("…"));
        }
        return None;
    }
    let forwarded = writer.forward(token).unwrap();
    assert!(forwarded.in_place);
    Some(forwarded.message)
}

fn node(number: u32, first: Option<MessageBuffer>, to: &Endpoint, from: &Endpoint) {
    let (mut reader, mut writer) = (Reader::default(), Writer::new());
    let received = iter::from_fn(|| Some(from.recv_message().ok()?.payload));
    for message in first.into_iter().chain(received) {
        let Some(message) = visit(number, message, &mut reader, &mut writer) else {
            break;
        };
        to.send_buffer(Header::new(1, [0; 3]), message).unwrap();
    }
}

fn ring(scheme: &str) {
    let pool = Pool::default();
    let token = Token {
        hops: 0,
        last: None,
        owner: "ring".to_owned(),
        visits: vec![0; NODES as usize],
        notes: (0..50).map(note).collect(),
    };
    let first = Writer::new().write_to(&token, &pool).unwrap();
    let options = Options::new(pool.clone());
    let pairs = (0..NODES).map(|_| pair(scheme, &options, &options));
    let (to, mut from): (Vec<_>, Vec<_>) = pairs.unzip();
    // Each node has the far end of its predecessor's connection.
    from.rotate_right(1);
    let mut first = Some(first);
    thread::scope(|scope| {
        for (number, (to, from)) in (0..NODES).zip(to.into_iter().zip(from)) {
            let first = first.take();
            scope.spawn(move || node(number, first, &to, &from));
        }
    });
    assert_eq!(pool.stats().in_use, 0, "every jbuf went back");
}

#[test]
fn a_token_goes_round_inside_a_process() {
    ring("inproc");
}

#[test]
fn a_token_goes_round_by_unix_sockets() {
    ring("uds");
}

#[test]
fn a_token_goes_round_by_tcp() {
    ring("tcp");
}
