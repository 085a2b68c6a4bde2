//! Peers for every layer of the transport that send what an input chooses.
//!
//! No result depends on timing: the peer closes its connection after it has sent everything, and
//! the attacked side must then end, too.

pub mod channels;
pub mod greeting;
pub mod ranks;
pub mod remote;
pub mod worlds;

use std::io::IoSlice;
use std::thread;
use std::time::Duration;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream_transport::{Address, Endpoint, Header, Listener, Options, connect};

/// The maximum number of frames per input.
const FRAMES: usize = 64;

/// The time within which a connection must end. A connection that takes longer is a finding.
const PATIENCE: Duration = Duration::from_secs(8);

/// Returns an address that is unique to this process.
fn address(scheme: &str, name: &str) -> Address {
    let at = if scheme == "uds" { "@" } else { "" };
    let address = format!("{scheme}://{at}fuzz-{name}-{}", std::process::id());
    address.parse().expect("it is one")
}

/// Options of the attacked side, with small limits.
fn options() -> Options {
    let mut options = Options::default();
    options.max_message = 1 << 20;
    options.spin = Duration::ZERO;
    options
}

/// Connects to the listener. Returns the end of the peer and the accepted end.
fn join(listener: &Listener) -> (Endpoint, Endpoint) {
    thread::scope(|scope| {
        let connecting = scope.spawn(|| connect(listener.local_address(), &options()));
        let accepted = listener
            .accept()
            .and_then(|incoming| Ok(incoming.establish()));
        let accepted = accepted
            .expect("a peer connects")
            .expect("it is of this version");
        let peer = connecting.join().expect("nothing panics there");
        (peer.expect("the listener is there"), accepted)
    })
}

/// Chooses a word of a frame header; most are small.
fn word(input: &mut Unstructured<'_>) -> Result<u64> {
    let small = u64::from(u8::arbitrary(input)?);
    Ok(match small % 8 {
        0..=3 => small >> 6,
        4 => u64::from(u8::arbitrary(input)?),
        5 => (small >> 6) << 32 | u64::from(u8::arbitrary(input)? % 4),
        6 => 1 << (u8::arbitrary(input)? % 64),
        _ => u64::arbitrary(input)?,
    })
}

/// Chooses a payload: arbitrary bytes, or one of those with a known meaning.
fn payload(input: &mut Unstructured<'_>, known: &[&[u8]]) -> Result<Vec<u8>> {
    let mut payload = match u8::arbitrary(input)? % 4 {
        0 => Vec::new(),
        1 => {
            let length = usize::from(u8::arbitrary(input)?);
            let length = length.min(input.len());
            input.bytes(length)?.to_vec()
        }
        2 => vec![u8::arbitrary(input)?; usize::from(u16::arbitrary(input)?)],
        _ if known.is_empty() => Vec::new(),
        _ => input.choose(known)?.to_vec(),
    };
    if u8::arbitrary(input)? % 4 == 0 && !payload.is_empty() {
        let at = usize::from(u16::arbitrary(input)?) % payload.len();
        payload[at] = u8::arbitrary(input)?;
    }
    Ok(payload)
}

/// Sends a message of one of `kinds`, or rarely of any other. Returns false if the connection has
/// ended.
fn say(
    peer: &Endpoint,
    input: &mut Unstructured<'_>,
    kinds: std::ops::RangeInclusive<u32>,
    known: &[&[u8]],
) -> Result<bool> {
    let kind = if input.ratio(31, 32)? {
        input.int_in_range(kinds)?
    } else {
        u32::arbitrary(input)?
    };
    let words = [word(input)?, word(input)?, word(input)?];
    let payload = payload(input, known)?;
    let sent = peer.send_message(Header::new(kind, words), &[IoSlice::new(&payload)]);
    while peer.recv_message_within(Duration::ZERO).is_ok() {}
    Ok(sent.is_ok())
}
