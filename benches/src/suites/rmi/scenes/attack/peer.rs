//! A peer that has said hello and looked the target up, and says what it likes from then on.

use std::io::IoSlice;
use std::sync::atomic::Ordering;

use jstream::{Transportable, Writer};
use jstream_rmi::Remotable;
use jstream_transport::{Endpoint, Header, Message, connect};

use super::target::Target;
use super::{Aim, NAME};
use crate::Failure;

/// The kinds of frames: see `transport/PROTOCOL.md`.
pub(super) const HELLO: u32 = 0x6a73_6101;
pub(super) const REQUEST: u32 = 0x6a73_6102;
pub(super) const SEND: u32 = 0x6a73_6103;
pub(super) const REPLY: u32 = 0x6a73_6104;
pub(super) const RETURN: u32 = 0x6a73_6105;
pub(super) const CANCEL: u32 = 0x6a73_6108;

/// The number of the first object that a connection looks up.
pub(super) const OBJECT: u64 = 1;

/// What names a method of that.
pub(super) const fn word(method: u64) -> u64 {
    OBJECT | method << 32
}

/// What a peer says of itself in its hello: its version, and how much it takes.
pub(super) const WORDS: [u64; 3] = [1, 1000, 1 << 30];

/// The bytes of a header.
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

    /// The next message of that kind. What gives back credit, and other answers, may come before.
    fn receive(&self, kind: u32) -> Result<Message, Failure> {
        loop {
            let message = self.endpoint.recv_message()?;
            if message.header.kind == kind {
                return Ok(message);
            }
        }
    }

    /// Waits for so many answers, whatever they say.
    pub(super) fn answers(&self, count: usize) -> Result<(), Failure> {
        let mut left = count;
        while left > 0 {
            let kind = self.endpoint.recv_message()?.header.kind;
            left -= usize::from(kind == REPLY || kind == RETURN);
        }
        Ok(())
    }

    /// Waits until the server has ended the connection.
    pub(super) fn ended(&self) {
        while self.endpoint.recv_message().is_ok() {}
    }
}

/// The arguments of the registry's `lookup` for the target.
pub(super) fn lookup() -> Result<Vec<u8>, Failure> {
    message(&(NAME, <dyn Target as Remotable>::interface().id()))
}

/// The handlers of a side.
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

/// An object as it travels.
pub(super) fn message<T: Transportable>(of: &T) -> Result<Vec<u8>, Failure> {
    let bytes = Writer::new().gather(of, |segments| {
        let all = segments.iter().flat_map(|segment| segment.iter().copied());
        all.collect::<Vec<u8>>()
    });
    Ok(bytes?)
}
