//! Bare sockets that send arbitrary bytes to endpoints over TCP. The `uring` device speaks the same
//! protocol.

use std::io::{Read, Write};
use std::net::TcpStream;

use jstream_transport::{Address, Endpoint, Listener, Options, listen};

use super::fresh;
use crate::LONG;

/// The maximum payload length that [`hello`] announces, in bytes.
pub const MAX: u64 = 64 << 20;

/// Returns the hello of this protocol version on this machine.
pub fn hello() -> [u8; 32] {
    let mut hello = [0; 32];
    hello[..8].copy_from_slice(b"jstream\0");
    hello[8] = 2;
    hello[12..14].copy_from_slice(&0x0102u16.to_ne_bytes());
    hello[14] = u8::try_from(usize::BITS).unwrap();
    hello[16..24].copy_from_slice(&MAX.to_le_bytes());
    hello
}

/// Returns the header of a frame.
pub fn frame(op: u32, kind: u32, words: [u64; 3], length: u64) -> [u8; 40] {
    let mut header = [0; 40];
    header[..4].copy_from_slice(&kind.to_le_bytes());
    header[4..8].copy_from_slice(&op.to_le_bytes());
    for (place, word) in header[8..32].chunks_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    header[32..].copy_from_slice(&length.to_le_bytes());
    header
}

/// Returns the FAREWELL frame, which a side sends in place of a header when it shuts down cleanly.
pub fn farewell() -> [u8; 40] {
    let mut farewell = [0; 40];
    farewell[..8].copy_from_slice(b"\xff\xff\xff\xffbye\0");
    farewell
}

/// Listens on a free port of the loopback address.
pub fn listener(options: &Options) -> Listener {
    listen(&"tcp://127.0.0.1:0".parse().unwrap(), options).unwrap()
}

/// Connects a socket that has not sent anything yet.
pub fn raw(address: &Address) -> TcpStream {
    let uri = address.to_string();
    let (_, at) = uri.split_once("://").unwrap();
    let stream = TcpStream::connect(at).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Connects a socket and completes the handshake. Returns the socket and the endpoint at its other
/// end.
pub fn greeted(listener: &Listener) -> (TcpStream, Endpoint) {
    let mut stream = raw(listener.local_address());
    stream.write_all(&hello()).unwrap();
    let endpoint = listener.accept().unwrap().establish().unwrap();
    let mut theirs = [1; 40];
    stream.read_exact(&mut theirs).unwrap();
    assert_eq!(theirs[..16], hello()[..16]);
    // The verdict: accepted.
    assert_eq!(theirs[32..], [0; 8]);
    (stream, endpoint)
}

/// Like [`greeted`], with a new TCP listener.
pub fn receiving(options: &Options) -> (TcpStream, Endpoint) {
    greeted(&listener(options))
}

/// Like [`greeted`], with a new listener of the given scheme.
pub fn receiving_over(scheme: &str, options: &Options) -> (TcpStream, Endpoint) {
    greeted(&listen(&fresh(scheme), options).unwrap())
}
