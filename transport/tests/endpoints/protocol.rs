//! The examples of `PROTOCOL.md`: a bare socket sends the bytes of the document and compares the
//! received bytes with it.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process;
use std::thread;

use jstream_transport::{
    Address, ConnectError, Endpoint, Header, Options, RecvError, connect, listen,
};
use rustix::fs::SealFlags;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

const PAGE: &str = include_str!("../../PROTOCOL.md");

/// The bytes that one side sends before the other side answers.
#[derive(Debug, PartialEq)]
struct Turn {
    client: bool,
    bytes: Vec<u8>,
}

/// Returns the examples of the document, in order.
fn examples() -> Vec<Vec<Turn>> {
    let (_, examples) = PAGE.split_once("\n## 10. Examples\n").unwrap();
    let (examples, _) = examples.split_once("\n## ").unwrap();
    let blocks = examples.split("```").skip(1).step_by(2);
    let turns = blocks.map(|block| {
        let mut turns: Vec<Turn> = Vec::new();
        for line in block.lines().skip(1) {
            let (side, bytes) = line.split_once(' ').unwrap();
            let client = match side {
                ">" => true,
                "<" => false,
                other => panic!("{other}"),
            };
            let bytes = bytes.split(' ').map(|n| u8::from_str_radix(n, 16).unwrap());
            match turns.last_mut() {
                Some(turn) if turn.client == client => turn.bytes.extend(bytes),
                _ => turns.push(Turn {
                    client,
                    bytes: bytes.collect(),
                }),
            }
        }
        turns
    });
    turns.collect()
}

fn options() -> Options {
    let mut options = Options::default();
    options.max_message = 64 << 20;
    options
}

/// Returns a name that no other run of the test uses.
fn name(of: &str) -> String {
    format!("protocol-{of}-{}", process::id())
}

fn abstract_name(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(name).unwrap()
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// Sends the turns of one side, and compares the received bytes with the turns of the other side.
fn play(stream: &mut dyn Stream, turns: &[Turn], client: bool) {
    for turn in turns {
        if turn.client == client {
            stream.write_all(&turn.bytes).unwrap();
        } else {
            let mut heard = vec![0; turn.bytes.len()];
            stream.read_exact(&mut heard).unwrap();
            assert_eq!(heard, turn.bytes);
        }
    }
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

fn hear(endpoint: &Endpoint, kind: u32, words: [u64; 3], payload: &[u8]) {
    let message = endpoint.recv_message().unwrap();
    assert_eq!((message.header.kind, message.header.words), (kind, words));
    assert_eq!(message.payload.as_bytes(), payload);
}

fn hear_the_end(endpoint: &Endpoint) {
    let end = endpoint.recv_message().unwrap_err();
    assert!(matches!(end, RecvError::Closed { .. }), "{end}");
}

/// Plays the server of the first example with an endpoint.
fn serve(endpoint: &Endpoint) {
    hear(endpoint, 7, [1, 2, 3], b"hello");
    endpoint.send_message(Header::new(8, [0; 3]), &[]).unwrap();
    hear_the_end(endpoint);
}

/// Plays the client of the first example with an endpoint.
fn ask(endpoint: &Endpoint) {
    let parts = [IoSlice::new(b"hel"), IoSlice::new(b"lo")];
    endpoint
        .send_message(Header::new(7, [1, 2, 3]), &parts)
        .unwrap();
    hear(endpoint, 8, [0; 3], b"");
    endpoint.finish().unwrap();
    hear_the_end(endpoint);
}

/// Returns the devices that connect endpoints and bare sockets.
fn schemes() -> [&'static str; 3] {
    ["tcp", "uring", "uds"]
}

fn free_address(scheme: &str) -> Address {
    let uri = match scheme {
        "uds" => format!("uds://@{}", name("listens")),
        _ => format!("{scheme}://127.0.0.1:0"),
    };
    uri.parse().unwrap()
}

/// Connects a bare socket to `address`.
fn bare_client(address: &Address) -> Box<dyn Stream> {
    let uri = address.to_string();
    match uri.split_once("://").unwrap() {
        ("uds", at) => {
            let name = abstract_name(at.strip_prefix('@').unwrap());
            Box::new(UnixStream::connect_addr(&name).unwrap())
        }
        (_, at) => Box::new(TcpStream::connect(at).unwrap()),
    }
}

type Accepting = Box<dyn FnOnce() -> Box<dyn Stream> + Send>;

/// Creates a bare socket that listens. Returns its address and a function that accepts a
/// connection.
fn bare_server(scheme: &str) -> (Address, Accepting) {
    if scheme == "uds" {
        let name = name("bare");
        let listener = UnixListener::bind_addr(&abstract_name(&name)).unwrap();
        let accept = move || Box::new(listener.accept().unwrap().0) as Box<dyn Stream>;
        return (format!("uds://@{name}").parse().unwrap(), Box::new(accept));
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let accept = move || Box::new(listener.accept().unwrap().0) as Box<dyn Stream>;
    (
        format!("{scheme}://{at}").parse().unwrap(),
        Box::new(accept),
    )
}

#[test]
fn a_listener_speaks_as_the_page_says() {
    for scheme in schemes() {
        let listener = listen(&free_address(scheme), &options()).unwrap();
        let address = listener.local_address().clone();
        thread::scope(|scope| {
            scope.spawn(|| serve(&listener.accept().unwrap().establish().unwrap()));
            play(&mut *bare_client(&address), &examples()[0], true);
        });
        thread::scope(|scope| {
            scope.spawn(|| listener.accept().unwrap().refuse("no room"));
            play(&mut *bare_client(&address), &examples()[1], true);
        });
    }
}

#[test]
fn who_connects_speaks_as_the_page_says() {
    for scheme in schemes() {
        let (address, accept) = bare_server(scheme);
        thread::scope(|scope| {
            scope.spawn(|| play(&mut *accept(), &examples()[0], false));
            ask(&connect(&address, &options()).unwrap());
        });
        let (address, accept) = bare_server(scheme);
        thread::scope(|scope| {
            scope.spawn(|| play(&mut *accept(), &examples()[1], false));
            let refused = connect(&address, &options()).unwrap_err();
            assert!(
                matches!(&refused, ConnectError::Refused { reason, .. } if reason == "no room"),
                "{refused}"
            );
        });
    }
}

/// Lengths and offsets of section 6 of the document.
const FILE: u64 = 4_268_032;
const LANE: u64 = 2_134_016;
const SLOTS: u64 = 4096;
const CONSUMED: u64 = 0;
const RECEIVER_ARMED: u64 = 128;
const ENDED: u64 = 384;
const GONE: u64 = 512;

/// Receives the server's offer and the file descriptors that come with it.
fn hear_offer(socket: &UnixStream) -> ([u64; 4], Vec<OwnedFd>) {
    let mut bytes = [0; 32];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let heard = rustix::net::recvmsg(socket, &mut parts, &mut control, flags).unwrap();
    assert_eq!(heard.bytes, 32);
    let mut given = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            given.extend(descriptors);
        }
    }
    let word = |n: usize| u64::from_ne_bytes(bytes[n * 8..][..8].try_into().unwrap());
    ([0, 1, 2, 3].map(word), given)
}

fn word(memory: &File, at: u64) -> u64 {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, at).unwrap();
    u64::from_ne_bytes(bytes)
}

/// A client that does not map the memory file, but reads and writes it.
#[test]
fn shared_memory_is_as_the_page_says() {
    let examples = examples();
    let [greeting, welcome, ..] = &examples[0][..] else {
        panic!("the first example has two turns")
    };
    let name = name("shm");
    let listener = listen(&format!("shm://{name}").parse().unwrap(), &options()).unwrap();
    let uid = rustix::process::geteuid().as_raw();
    let at = abstract_name(&format!("jstream-shm-{uid}-{name}"));
    thread::scope(|scope| {
        let server = scope.spawn(|| serve(&listener.accept().unwrap().establish().unwrap()));
        let mut socket = UnixStream::connect_addr(&at).unwrap();
        socket.write_all(&greeting.bytes).unwrap();
        let mut heard = vec![0; welcome.bytes.len()];
        socket.read_exact(&mut heard).unwrap();
        assert_eq!(heard, welcome.bytes);

        // An offer of memory that can't be read, and no flags.
        let offer: [u64; 4] = [8, 1, 2, 0];
        socket
            .write_all(&offer.map(u64::to_ne_bytes).concat())
            .unwrap();
        let ([_, _, _, flags], given) = hear_offer(&socket);
        assert_eq!(flags & !1, 0, "address 8 can't be read");
        let [memory, second] = <[OwnedFd; 2]>::try_from(given).unwrap();
        let seals = rustix::fs::fcntl_get_seals(&memory).unwrap();
        assert!(seals.contains(SealFlags::SHRINK | SealFlags::GROW));
        let (memory, second) = (File::from(memory), UnixStream::from(second));
        assert_eq!(memory.metadata().unwrap().len(), FILE);
        assert!(second.peer_addr().is_ok());

        // The first message is written before the server has established the connection, and this
        // side is already armed for a wake-up.
        memory.write_all_at(&examples[2][0].bytes, SLOTS).unwrap();
        let armed = LANE + RECEIVER_ARMED;
        memory.write_all_at(&1u64.to_ne_bytes(), armed).unwrap();
        socket.write_all(&0u64.to_ne_bytes()).unwrap();

        socket.read_exact(&mut [0]).unwrap();
        assert_eq!(word(&memory, armed), 0);
        assert_eq!(word(&memory, CONSUMED), 1);
        // Lap 1, inline, no payload; and the header of the second message.
        assert_eq!(word(&memory, LANE + SLOTS), (1 << 32) | (1 << 28));
        let mut header = [0; 40];
        memory.read_exact_at(&mut header, LANE + SLOTS + 8).unwrap();
        assert_eq!(header[..], examples[0][3].bytes);

        memory.write_all_at(&1u64.to_ne_bytes(), ENDED).unwrap();
        socket.write_all(&[0]).unwrap();
        server.join().unwrap();
        assert_eq!(word(&memory, LANE + ENDED), 1);
        assert_eq!(word(&memory, GONE), 1);
    });
}
