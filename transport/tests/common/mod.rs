//! What the tests of all devices share.
#![allow(dead_code, reason = "no test binary uses all of it")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use jstream_transport::{Address, Endpoint, Listener, Options, connect, listen};

/// Longer than anything here takes, so that a hang becomes a failure.
pub(crate) const LONG: Duration = Duration::from_secs(120);
/// Long enough to be noticed, short enough to wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(200);

/// An address where nobody listens yet.
pub(crate) fn fresh(scheme: &str) -> Address {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let uri = match scheme {
        "inproc" => format!("inproc://test-{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        "uds" => {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            format!("uds://@jstream-test-{}-{number}", std::process::id())
        }
        _ => format!("{scheme}://127.0.0.1:0"),
    };
    uri.parse().unwrap()
}

/// Both ends of a connection: the one that connected, the one that accepted.
pub(crate) fn pair(scheme: &str, client: &Options, server: &Options) -> (Endpoint, Endpoint) {
    let listener = listen(&fresh(scheme), server).unwrap();
    join(&listener, client)
}

/// Connects to `listener` and accepts.
pub(crate) fn join(listener: &Listener, client: &Options) -> (Endpoint, Endpoint) {
    let address = listener.local_address();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(address, client).unwrap());
        let accepted = listener.accept().unwrap().establish().unwrap();
        (connecting.join().unwrap(), accepted)
    })
}

/// Bytes that differ from place to place and from message to message.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        })
        .collect()
}

/// FNV-1a.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
