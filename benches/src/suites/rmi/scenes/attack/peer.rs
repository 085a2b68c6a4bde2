//! Peer that completes the handshake and looks up the target, and then sends arbitrary messages.

use std::io::IoSlice;
use std::sync::atomic::Ordering;

use jstream::{Transportable, Writer};
use jstream_rmi::Remotable;
use jstream_transport::{Endpoint, Header, Message, connect};

use super::target::Target;
use super::{Aim, NAME};
use crate::Failure;

/// Frame kinds, see `transport/PROTOCOL.md`.
pub(super) const HELLO: u32 = 0x6a73_6101;
pub(super) const REQUEST: u32 = 0x6a73_6102;
pub(super) const SEND: u32 = 0x6a73_6103;
pub(super) const REPLY: u32 = 0x6a73_6104;
pub(super) const RETURN: u32 = 0x6a73_6105;
pub(super) const CANCEL: u32 = 0x6a73_6108;

/// Number of the first object that a connection looks up.
pub(super) const OBJECT: u64 = 1;

/// Returns the word that identifies a method of [`OBJECT`].
pub(super) const fn word(method: u64) -> u64 {
    OBJECT | method << 32
}

/// Words of the peer's hello message: its version and its receive limits.
pub(super) const WORDS: [u64; 3] = [1, 1000, 1 << 30];

/// Size of a header in bytes.
const HEADER: usize = 40;

pub(super) struct Peer {
    endpoint: Endpoint,
    aim: Aim,
}

impl Peer {
    pub(super) fn new(aim: &Aim) -> Result<Self, Failure> {
        let endpoint = connect(&aim.address, &aim.options)?;
        aim.facts.connections.fetch_add(1, Ordering::Relaxed);
        let peer = Self {
            endpoint,
            aim: aim.clone(),
        };
        peer.send(Header::new(HELLO, WORDS), &table()?)?;
        peer.receive(HELLO)?;
        peer.request(7, 0, &lookup()?)?;
        peer.receive(REPLY)?;
        Ok(peer)
    }

    pub(super) fn many(aim: &Aim, count: usize) -> Result<Vec<Self>, Failure> {
        (0..count).map(|_| Self::new(aim)).collect()
    }

    pub(super) fn send(&self, header: Header, payload: &[u8]) -> Result<(), Failure> {
        let sent = HEADER + payload.len();
        self.aim.facts.sent.fetch_add(sent, Ordering::Relaxed);
        Ok(self
            .endpoint
            .send_message(header, &[IoSlice::new(payload)])?)
    }

    pub(super) fn request(&self, number: u64, word: u64, payload: &[u8]) -> Result<(), Failure> {
        self.send(Header::new(REQUEST, [number, word, 0]), payload)
    }

    /// Returns the next message of that kind. Skips others, such as credit and other answers.
    fn receive(&self, kind: u32) -> Result<Message, Failure> {
        loop {
            let message = self.endpoint.recv_message()?;
            if message.header.kind == kind {
                return Ok(message);
            }
        }
    }

    /// Waits for `count` answers of any content.
    pub(super) fn answers(&self, count: usize) -> Result<(), Failure> {
        let mut left = count;
        while left > 0 {
            let kind = self.endpoint.recv_message()?.header.kind;
            left -= usize::from(kind == REPLY || kind == RETURN);
        }
        Ok(())
    }

    /// Waits until the server has closed the connection.
    pub(super) fn ended(&self) {
        while self.endpoint.recv_message().is_ok() {}
    }
}

/// Returns the arguments of the registry's `lookup` for the target.
pub(super) fn lookup() -> Result<Vec<u8>, Failure> {
    message(&(NAME, <dyn Target as Remotable>::interface().id()))
}

/// Returns the table of this side's handlers.
pub(super) fn table() -> Result<Vec<u8>, Failure> {
    let mut table = Vec::new();
    for name in ["jstream.calls", "jstream.streams", "jstream.references"] {
        let types = "bytes -> bytes";
        table.extend([0; 16]);
        table.extend(u16::try_from(name.len())?.to_le_bytes());
        table.extend(u16::try_from(types.len())?.to_le_bytes());
        table.extend(name.as_bytes());
        table.extend(types.as_bytes());
    }
    Ok(table)
}

/// Returns the message of an object.
pub(super) fn message<T: Transportable>(of: &T) -> Result<Vec<u8>, Failure> {
    let bytes = Writer::new().gather(of, |segments| {
        let all = segments.iter().flat_map(|segment| segment.iter().copied());
        all.collect::<Vec<u8>>()
    });
    Ok(bytes?)
}
