//! Protocol between client and server: messages of separate kinds, most of them without a payload.
//!
//! ```text
//! client  Hello   version
//! server  Welcome version, longest payload, most memory
//! client  Begin   what, length, window and places     (repeatedly)
//! server  Ready, or Refused with the reason
//! both    Data ... the last one is Last; or messages of ranks from here on
//! ```

use std::io::IoSlice;
use std::time::Duration;

use jstream_transport::{Endpoint, Header, Message};

use crate::failure::Failure;
use crate::output::spelled;
use crate::work::{Op, Order, Receive, Touch, Work};

/// Version of the protocol; both sides must have the same.
const VERSION: u64 = 1;
/// First kind of messages.
const FIRST: u32 = 0x6a70_6600;
/// Maximum length in bytes of a reason; longer ones are truncated.
const LONGEST_REASON: usize = 256;

pub(crate) const HELLO: u32 = FIRST;
pub(crate) const WELCOME: u32 = FIRST + 1;
pub(crate) const BEGIN: u32 = FIRST + 2;
pub(crate) const READY: u32 = FIRST + 3;
pub(crate) const REFUSED: u32 = FIRST + 4;
/// A measured message.
pub(crate) const DATA: u32 = FIRST + 5;
/// The last measured message.
pub(crate) const LAST: u32 = FIRST + 6;
/// Acknowledgement that a whole window has arrived.
pub(crate) const ACK: u32 = FIRST + 7;
/// Notice of a payload mismatch: the number of the message, and the index of the first wrong byte.
pub(crate) const WRONG: u32 = FIRST + 8;
/// Announcement of a message.
pub(crate) const ANNOUNCED: u32 = FIRST + 9;
/// Request for an announced message.
pub(crate) const WANTED: u32 = FIRST + 10;

/// Sends a message that consists of a header only.
#[inline]
pub(crate) fn send_words(endpoint: &Endpoint, kind: u32, words: [u64; 3]) -> Result<(), Failure> {
    Ok(endpoint.send_message(Header::new(kind, words), &[])?)
}

/// Sends a refusal with its reason.
pub(crate) fn refuse(endpoint: &Endpoint, reason: &str) -> Result<(), Failure> {
    let reason = reason.as_bytes();
    let reason = reason.get(..LONGEST_REASON).unwrap_or(reason);
    let header = Header::new(REFUSED, [0; 3]);
    Ok(endpoint.send_message(header, &[IoSlice::new(reason)])?)
}

/// Receives the next message, which must be of this kind.
pub(crate) fn receive(
    endpoint: &Endpoint,
    kind: u32,
    patience: Duration,
) -> Result<Message, Failure> {
    let message = endpoint.recv_message_within(patience)?;
    expect(&message.header, kind, Some(message.payload.as_bytes()))?;
    Ok(message)
}

/// Checks the kind of a message. If it is another kind, returns what the message says as an error.
#[inline]
pub(crate) fn expect(header: &Header, kind: u32, payload: Option<&[u8]>) -> Result<(), Failure> {
    if header.kind == kind {
        return Ok(());
    }
    Err(instead(header, payload))
}

#[cold]
pub(crate) fn instead(header: &Header, payload: Option<&[u8]>) -> Failure {
    let [message, at, _] = header.words;
    Failure::Said(match (header.kind, payload) {
        (REFUSED, Some(reason)) => {
            format!(
                "the server refuses: {}",
                spelled(&String::from_utf8_lossy(reason))
            )
        }
        (WRONG, _) => format!(
            "the other side received message {message} with wrong contents, from byte {at} on"
        ),
        (kind, _) => format!("unexpected message of kind {kind:#x}; is the other side jperf?"),
    })
}

/// Performs the handshake of the client. Returns the limits of the server.
pub(crate) fn join(endpoint: &Endpoint, patience: Duration) -> Result<Allowed, Failure> {
    send_words(endpoint, HELLO, [VERSION, 0, 0])?;
    let welcome = receive(endpoint, WELCOME, patience)?;
    let [version, longest, memory] = welcome.header.words;
    if version != VERSION {
        return Err(Failure::Said(format!(
            "the protocol version of the server is {version}, that of this client is {VERSION}; \
             update the older jperf"
        )));
    }
    Ok(Allowed { longest, memory })
}

/// Performs the handshake of the server.
pub(crate) fn welcome(
    endpoint: &Endpoint,
    allowed: Allowed,
    patience: Duration,
) -> Result<(), Failure> {
    receive(endpoint, HELLO, patience)?;
    // The client checks the version.
    send_words(
        endpoint,
        WELCOME,
        [VERSION, allowed.longest, allowed.memory],
    )
}

/// Limits of the server for each client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    /// Maximum length of a payload, in bytes.
    pub(crate) longest: u64,
    /// Maximum memory of a measurement, in bytes.
    pub(crate) memory: u64,
}

const OPS: [Op; 6] = [
    Op::Pingpong,
    Op::Pingping,
    Op::Bandwidth,
    Op::Rate,
    Op::Rendezvous,
    Op::Tags,
];
const RECEIVES: [Receive; 5] = [
    Receive::Into,
    Receive::Jbuf,
    Receive::Moved,
    Receive::Trusted,
    Receive::Copied,
];
const TOUCHES: [Touch; 3] = [Touch::None, Touch::Clean, Touch::Dirty];

const ORDERS: [Order; 3] = [Order::In, Order::Reverse, Order::Any];

/// Returns the index of `one` in `all`.
fn number<T: PartialEq>(all: &[T], one: &T) -> u64 {
    all.iter().position(|other| other == one).unwrap_or(0) as u64
}

/// Returns the byte of a word that begins at bit `at`.
fn part(word: u64, at: u32) -> usize {
    let [low, ..] = (word >> at).to_le_bytes();
    usize::from(low)
}

impl Work {
    /// Encodes the measurement as header words.
    pub(crate) fn to_words(self) -> [u64; 3] {
        let what = number(&OPS, &self.op)
            | number(&RECEIVES, &self.receive) << 8
            | number(&TOUCHES, &self.touch) << 16
            | u64::from(self.check) << 24
            | number(&ORDERS, &self.order) << 28
            | u64::from(self.think) << 32;
        let turns = u64::from(self.window) | u64::from(self.places) << 32;
        let size = self.size as u64 | u64::from(self.depth) << 32;
        [what, size, turns]
    }

    /// Decodes header words of an untrusted peer, and checks them against the limits.
    pub(crate) fn of_words(
        [what, size, turns]: [u64; 3],
        allowed: Allowed,
    ) -> Result<Self, String> {
        let low = |word: u64| u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
        let depth = low(size >> 32);
        let size = u64::from(low(size));
        let unknown = || "the request contains a value that this version does not know".to_owned();
        if size > allowed.longest {
            return Err(format!(
                "payloads of {size} bytes are too long; the --max-size of the server is {}",
                allowed.longest
            ));
        }
        let work = Self {
            op: *OPS.get(part(what, 0)).ok_or_else(unknown)?,
            receive: *RECEIVES.get(part(what, 8)).ok_or_else(unknown)?,
            touch: *TOUCHES.get(part(what, 16)).ok_or_else(unknown)?,
            check: part(what, 24) & 1 != 0,
            order: *ORDERS.get(part(what, 28) & 15).ok_or_else(unknown)?,
            depth,
            size: usize::try_from(size).map_err(|_| unknown())?,
            window: low(turns).max(1),
            places: low(turns >> 32).max(1),
            think: low(what >> 32).min(MOST_THINKING),
        };
        if work.memory() > allowed.memory {
            return Err(format!(
                "{} bytes of memory are too many; the --max-memory of the server is {}",
                work.memory(),
                allowed.memory
            ));
        }
        Ok(work)
    }
}

/// Maximum delay before an answer, in nanoseconds.
const MOST_THINKING: u32 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: Allowed = Allowed {
        longest: 1 << 20,
        memory: 1 << 22,
    };

    fn work() -> Work {
        Work {
            op: Op::Bandwidth,
            receive: Receive::Trusted,
            touch: Touch::Dirty,
            check: true,
            size: 1 << 16,
            window: 8,
            places: 3,
            order: Order::Reverse,
            depth: 100,
            think: 5_000,
        }
    }

    #[test]
    fn what_is_said_is_understood() {
        for op in OPS {
            let said = Work { op, ..work() };
            assert_eq!(Work::of_words(said.to_words(), ALLOWED), Ok(said));
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let refused = |work: Work| Work::of_words(work.to_words(), ALLOWED).unwrap_err();
        let long = Work {
            size: (1 << 20) + 1,
            ..work()
        };
        assert!(refused(long).contains("too long"));
        let wide = Work {
            places: u32::MAX,
            ..work()
        };
        assert!(refused(wide).contains("too many"));
        let deep = Work {
            depth: u32::MAX,
            ..work()
        };
        assert!(refused(deep).contains("too many"));
        for words in [
            [99, 8, 1],
            [99 << 8, 8, 1],
            [99 << 16, 8, 1],
            [9 << 28, 8, 1],
        ] {
            assert!(
                Work::of_words(words, ALLOWED)
                    .unwrap_err()
                    .contains("does not know")
            );
        }
        assert!(Work::of_words([u64::MAX; 3], ALLOWED).is_err());
    }
}
