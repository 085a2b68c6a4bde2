//! Greetings of both sides, and the frames behind them.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::LazyLock;
use std::thread;

use jstream_transport::{Address, Endpoint, Listener, connect, listen};

use super::{PATIENCE, address, options};

/// Flags in the first byte of an input.
pub mod flag {
    /// The data begins with a valid greeting.
    pub const GREETED: u8 = 1;
    /// Two more bytes of the input change one byte of the greeting.
    pub const DAMAGED: u8 = 2;
    /// The input plays a server against a connecting client.
    pub const SERVER: u8 = 4;
}

/// Returns the greeting of this version on this machine.
pub(super) fn hello() -> [u8; 32] {
    let mut hello = [0; 32];
    hello[..8].copy_from_slice(b"jstream\0");
    hello[8] = 2;
    hello[12..14].copy_from_slice(&0x0102u16.to_ne_bytes());
    hello[14] = usize::BITS as u8;
    hello[16..24].copy_from_slice(&(1u64 << 20).to_le_bytes());
    hello
}

/// Returns a socket address in the system's form.
pub(super) fn of_system(address: &Address) -> SocketAddr {
    let address = address.to_string();
    let (_, name) = address.split_once('@').expect("it is abstract");
    SocketAddr::from_abstract_name(name).expect("it is short")
}

pub fn run(input: &[u8]) {
    let Some((&first, mut rest)) = input.split_first() else {
        return;
    };
    let is_server = first & flag::SERVER != 0;
    let mut said = Vec::new();
    if first & flag::GREETED != 0 {
        said.extend(hello());
        if is_server {
            said.extend([0; 8]);
        }
        if let ([at, byte, others @ ..], true) = (rest, first & flag::DAMAGED != 0) {
            let at = usize::from(*at) % said.len();
            said[at] = *byte;
            rest = others;
        }
    }
    said.extend(rest);
    if is_server {
        against_client(&said);
    } else {
        against_server(&said);
    }
}

/// Sends all bytes and closes the send direction.
fn say_all(mut stream: &UnixStream, said: &[u8]) {
    // The other side may close the connection before it has read everything.
    let _ = stream.write_all(said);
    let _ = stream.shutdown(Shutdown::Write);
}

/// Receives until the connection has ended.
fn drain(endpoint: &Endpoint) {
    loop {
        match endpoint.recv_message_within(PATIENCE) {
            Ok(message) => assert!(message.payload.len() <= 1 << 20),
            Err(error) => {
                let timed_out = matches!(error, jstream_transport::RecvError::TimedOut { .. });
                assert!(!timed_out, "the connection does not end without its peer");
                return assert!(!error.to_string().is_empty());
            }
        }
    }
}

fn against_server(said: &[u8]) {
    static LISTENER: LazyLock<Listener> =
        LazyLock::new(|| listen(&address("uds", "greeted"), &options()).expect("it is free"));
    let at = of_system(LISTENER.local_address());
    let stream = UnixStream::connect_addr(&at).expect("the listener is there");
    say_all(&stream, said);
    match LISTENER
        .accept()
        .expect("the peer has connected")
        .establish()
    {
        Ok(endpoint) => drain(&endpoint),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn against_client(said: &[u8]) {
    static LISTENER: LazyLock<(Address, UnixListener)> = LazyLock::new(|| {
        let address = address("uds", "greeting");
        let listener = UnixListener::bind_addr(&of_system(&address));
        (address, listener.expect("it is free"))
    });
    let (address, listener) = &*LISTENER;
    thread::scope(|scope| {
        let player = scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("the client connects");
            say_all(&stream, said);
            let _ = stream.read_to_end(&mut Vec::new());
        });
        match connect(address, &options()) {
            Ok(endpoint) => drain(&endpoint),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        // Joins the thread, because memory that it still holds would count as a leak of this input.
        player.join().expect("nothing panics there");
    });
}
