//! Helpers of the tests of all devices.

pub mod bare;
pub mod peers;
pub mod queues;
pub mod ranks;
pub mod worlds;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jstream::buffer::{EmptyBuffer, MessageBuffer, Pool};
use jstream_transport::{Address, Endpoint, Header, Listener, Options, connect, listen};

use crate::LONG;

/// The devices that connect endpoints on one host.
pub const SCHEMES: [&str; 5] = ["inproc", "shm", "uds", "tcp", "uring"];

/// Returns an unused address.
pub fn fresh(scheme: &str) -> Address {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let uri = match scheme {
        "inproc" => format!("inproc://test-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        "uds" => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            format!("uds://@jstream-test-{}-{number}", std::process::id())
        }
        "shm" => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            format!("shm://jstream-test-{}-{number}", std::process::id())
        }
        _ => format!("{scheme}://127.0.0.1:0"),
    };
    uri.parse().unwrap()
}

/// Returns both ends of a connection: the end that connected, then the end that accepted.
pub fn pair(scheme: &str, client: &Options, server: &Options) -> (Endpoint, Endpoint) {
    let listener = listen(&fresh(scheme), server).unwrap();
    join(&listener, client)
}

/// Returns both ends of a connection with default options.
pub fn default_pair(scheme: &str) -> (Endpoint, Endpoint) {
    pair(scheme, &Options::default(), &Options::default())
}

/// Returns options with timeouts that a slow test does not reach.
pub fn patient() -> Options {
    let mut options = Options::default();
    options.handshake_timeout = LONG;
    options.message_timeout = LONG;
    options.connect_timeout = LONG;
    options.send_timeout = LONG;
    options
}

/// Connects to `listener` and accepts the connection.
pub fn join(listener: &Listener, client: &Options) -> (Endpoint, Endpoint) {
    let address = listener.local_address();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(address, client).unwrap());
        let accepted = listener.accept().unwrap().establish().unwrap();
        (connecting.join().unwrap(), accepted)
    })
}

/// Returns a header that carries the number of a message.
pub fn header(number: u64) -> Header {
    Header::new(1, [number, 0, 0])
}

/// Returns a jbuf that belongs to no pool.
pub fn filled(payload: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(payload.len()).copy_from(payload).unwrap()
}

/// Sends a payload in a jbuf of `pool`.
pub fn send(endpoint: &Endpoint, number: u64, payload: &[u8], pool: &Pool) {
    let empty = pool.take(payload.len()).unwrap();
    let filled = empty.copy_from(payload).unwrap();
    endpoint.send_buffer(header(number), filled).unwrap();
}

/// Computes an FNV-1a hash, one 64-bit word at a time.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0xcbf2_9ce4_8422_2325, |hash, bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Generates tests from functions that take a scheme: one test for each function and device. A name
/// may have attributes.
#[macro_export]
macro_rules! over_devices {
    (@ $device:ident: $($(#[$attribute:meta])* $promise:ident)+) => {
        mod $device {
            $(#[test]
            $(#[$attribute])*
            fn $promise() {
                super::$promise(stringify!($device));
            })+
        }
    };
    (: $promises:tt) => {};
    ($device:ident $($devices:ident)*: { $($(#[$attribute:meta])* $promise:ident)+ }) => {
        $crate::over_devices!(@ $device: $($(#[$attribute])* $promise)+);
        $crate::over_devices!($($devices)*: { $($(#[$attribute])* $promise)+ });
    };
}
