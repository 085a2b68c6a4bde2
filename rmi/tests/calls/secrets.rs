//! Servers that require a secret: only clients that know it may call.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_rmi::{
    AuthError, Client, ClientOptions, ConnectError, Options, Secret, Server, ServerOptions,
    Serving, remote,
};
use jstream_transport::{Endpoint, Header, RecvError, connect, listen};

use testing::until;

#[remote]
trait Sum {
    fn sum(&self, of: &[u64]) -> u64;
}

struct Plain;

impl Sum for Plain {
    fn sum(&self, of: &[u64]) -> u64 {
        of.iter().sum()
    }
}

fn secret(of: &str) -> Secret {
    Secret::new(format!("the secret of {of}, of enough bytes").as_bytes()).unwrap()
}

fn serve(secret: Option<Secret>, change: impl FnOnce(&mut ServerOptions)) -> Serving {
    let mut options = ServerOptions::default();
    options.secret = secret;
    change(&mut options);
    let server = Server::new(options);
    server.bind::<dyn Sum>("sum", Arc::new(Plain)).unwrap();
    server
        .listen(&"tcp://127.0.0.1:0".parse().unwrap())
        .unwrap()
}

fn client(serving: &Serving, secret: Option<Secret>) -> Result<Client, ConnectError> {
    let mut options = ClientOptions::default();
    options.secret = secret;
    Client::connect_with(serving.address(), &options).wait()
}

fn assert_serves(serving: &Serving) {
    let client = client(serving, Some(secret("all"))).unwrap();
    let sum = client.lookup::<dyn Sum>("sum").wait().unwrap();
    assert_eq!(*sum.sum(&[1, 2, 3]).wait().unwrap().get(), 6);
    // Large arguments use the second connection.
    let much = vec![1; 100_000];
    assert_eq!(*sum.sum(&much).wait().unwrap().get(), 100_000);
}

#[test]
fn who_knows_it_calls_and_who_does_not_may_nothing() {
    let serving = serve(Some(secret("all")), |_| {});
    assert_serves(&serving);
    let other = client(&serving, Some(secret("others"))).unwrap_err();
    assert!(matches!(other, ConnectError::Secret(_)), "{other}");
    let none = client(&serving, None).unwrap_err();
    assert!(matches!(none, ConnectError::Join(_)), "{none}");
    assert_serves(&serving);

    let open = serve(None, |_| {});
    let unasked = client(&open, Some(secret("all"))).unwrap_err();
    assert!(
        matches!(unasked, ConnectError::Secret(AuthError::NotAsked)),
        "{unasked}"
    );
}

const CHALLENGE: u32 = 0x6a73_7201;
const PROOF: u32 = 0x6a73_7202;
const COUNTERPROOF: u32 = 0x6a73_7203;

fn send(endpoint: &Endpoint, kind: u32, payload: &[u8]) {
    let header = Header::new(kind, [1, 0, 0]);
    // The other side may have ended the connection already.
    let _ = endpoint.send_message(header, &[IoSlice::new(payload)]);
}

fn receive(endpoint: &Endpoint, kind: u32) -> Vec<u8> {
    let message = endpoint.recv_message().unwrap();
    assert_eq!(message.header.kind, kind);
    message.payload.as_bytes().to_vec()
}

fn assert_ended(endpoint: &Endpoint) {
    let error = endpoint.recv_message().unwrap_err();
    let ended = matches!(error, RecvError::Closed { .. } | RecvError::Lost { .. });
    assert!(ended, "{error}");
}

#[test]
fn what_is_no_proof_ends_the_connection() {
    let mut pool = None;
    let serving = serve(Some(secret("all")), |options| {
        pool = Some(options.transport.pool.clone());
    });
    let hello = 0x6a73_6101;
    let much = vec![0; 1 << 20];
    for (kind, payload) in [
        (PROOF, &[0; 64][..]),
        (PROOF, &[0; 63]),
        (PROOF, &[0; 65]),
        (PROOF, &[]),
        (PROOF, &much),
        (CHALLENGE, &[0; 32]),
        (hello, &[]),
        (hello, &much),
    ] {
        let endpoint = connect(serving.address(), &Options::default()).unwrap();
        assert_eq!(receive(&endpoint, CHALLENGE).len(), 32);
        send(&endpoint, kind, payload);
        assert_ended(&endpoint);
    }
    // The payloads of these peers have used no memory of the pool.
    assert_eq!(pool.unwrap().stats().in_use, 0);
    assert_serves(&serving);
}

#[test]
fn proofs_are_of_one_connection() {
    let serving = serve(Some(secret("all")), |_| {});
    let address = "inproc://secrets-replayed".parse().unwrap();
    let listener = listen(&address, &Options::default()).unwrap();
    let known = thread::spawn(move || {
        let mut options = ClientOptions::default();
        options.secret = Some(secret("all"));
        Client::connect_with(&address, &options).wait()
    });
    let victim = listener.accept().unwrap().establish().unwrap();
    // A proof for one connection is not valid on the next one.
    let first = connect(serving.address(), &Options::default()).unwrap();
    send(&victim, CHALLENGE, &receive(&first, CHALLENGE));
    let proof = receive(&victim, PROOF);
    let second = connect(serving.address(), &Options::default()).unwrap();
    receive(&second, CHALLENGE);
    send(&second, PROOF, &proof);
    assert_ended(&second);
    // The client does not accept its own proof as that of the server, either.
    send(&victim, COUNTERPROOF, &proof[32..]);
    let refused = known.join().unwrap().unwrap_err();
    assert!(
        matches!(refused, ConnectError::Secret(AuthError::Wrong)),
        "{refused}"
    );
    assert_serves(&serving);
}

/// Header words without a meaning in this version are 0. A peer that sets them speaks another
/// version.
#[test]
fn words_that_say_nothing_are_no_challenge() {
    for (number, words) in [[1, 7, 0], [1, 0, 7], [2, 0, 0]].into_iter().enumerate() {
        let address = format!("inproc://secrets-words-{number}").parse().unwrap();
        let listener = listen(&address, &Options::default()).unwrap();
        let asked = thread::spawn(move || {
            let mut options = ClientOptions::default();
            options.secret = Some(secret("all"));
            Client::connect_with(&address, &options).wait()
        });
        let server = listener.accept().unwrap().establish().unwrap();
        let header = Header::new(CHALLENGE, words);
        server
            .send_message(header, &[IoSlice::new(&[0; 32])])
            .unwrap();
        // The client ends the connection without an answer.
        until(|| server.recv_message().is_err());
        let refused = asked.join().unwrap().unwrap_err();
        assert!(
            matches!(refused, ConnectError::Secret(AuthError::NotAsked)),
            "{refused}"
        );
    }
}

#[test]
fn a_challenge_does_not_answer_itself() {
    let serving = serve(Some(secret("all")), |_| {});
    let endpoint = connect(serving.address(), &Options::default()).unwrap();
    let challenge = receive(&endpoint, CHALLENGE);
    // Sends the challenge to the server, to obtain the server's own proof for it.
    let other = connect(serving.address(), &Options::default()).unwrap();
    receive(&other, CHALLENGE);
    send(&other, PROOF, &[&challenge[..], &[0; 32]].concat());
    assert_ended(&other);
    send(&endpoint, PROOF, &[&challenge[..], &challenge[..]].concat());
    assert_ended(&endpoint);
    assert_serves(&serving);
}

#[test]
fn who_proves_nothing_is_few_and_not_for_long() {
    let serving = serve(Some(secret("all")), |options| {
        options.max_greeting = 3;
        // Longer than it takes to connect all peers.
        options.messages.handshake_timeout = Duration::from_secs(3);
    });
    // New peers evict older ones, and the last ones reach their timeout.
    let silent: Vec<_> = (0..10)
        .filter_map(|_| connect(serving.address(), &Options::default()).ok())
        .collect();
    assert!(!silent.is_empty());
    for endpoint in &silent {
        until(|| endpoint.recv_message().is_err());
    }
    until(|| client(&serving, Some(secret("all"))).is_ok());
    assert_serves(&serving);
}
