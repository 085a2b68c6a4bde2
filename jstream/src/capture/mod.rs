//! Captures: files of the messages that a connection carried. Reading them does not need the
//! programs that made them.
//!
//! A capture begins with eight bytes: `jstcap` and the version in two bytes. [Records](Record)
//! follow, each after its length and a checksum of 32 bits each, all little-endian. A capture of
//! calls includes the schemas of the methods that were called, so that the values in its messages
//! can be shown.
//!
//! ```
//! use jstream::capture::{CaptureReader, Direction, Kind, Message, Record, encode, start};
//!
//! # fn main() -> Result<(), jstream::capture::CaptureError> {
//! let mut bytes = start();
//! let mut message = Message::new(Direction::Outward, Kind::Request);
//! message.payload = b"what was sent".to_vec();
//! encode(&Record::Message(message.clone()), &mut bytes);
//!
//! let mut reader = CaptureReader::new(&bytes[..])?;
//! assert_eq!(reader.read()?, Some(Record::Message(message)));
//! assert_eq!(reader.read()?, None);
//! # Ok(())
//! # }
//! ```
//!
//! Captures need not be trusted: memory is linear in their length, and damage is reported as an
//! error.
#![forbid(unsafe_code)]

mod encoding;
mod reader;
#[cfg(test)]
mod tests;

pub use self::encoding::{encode, encode_message, start};
pub use self::reader::{CaptureError, CaptureReader};

/// Header of a capture: the magic number and the version.
pub const MAGIC: [u8; 8] = *b"jstcap\x01\x00";

/// A record of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// Description of the captured connection; the first record.
    Start(Start),
    /// The names of one side's handlers. Messages refer to handlers by their index.
    Handlers {
        /// The side that has the handlers: `Inward` for names that were received.
        direction: Direction,
        /// Names of the handlers.
        names: Vec<String>,
    },
    /// The method with these numbers. The record may come before or after the first call.
    Method(Method),
    /// A message.
    Message(Message),
    /// A gap: messages are missing because the disk was too slow or a limit was reached.
    Lost {
        /// Number of missing messages.
        messages: u64,
        /// Size in bytes of their records.
        bytes: u64,
    },
    /// The connection has ended. This is the last record.
    End,
}

/// Description of a captured connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// True if the capturing side is the client, which opened the connection.
    pub by_client: bool,
    /// Start of the capture, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// Address of the peer.
    pub peer: String,
}

/// A method that was called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Method {
    /// Direction of calls to the object: `Outward` for objects of the peer.
    pub direction: Direction,
    /// Number of the object.
    pub object: u32,
    /// Index of the method in the interface.
    pub place: u16,
    /// Name of the interface.
    pub interface: String,
    /// Name of the method.
    pub name: String,
    /// Signature of the method.
    pub signature: String,
    /// Encoded schema of the arguments, for
    /// [`Schema::from_bytes`](crate::schema::Schema::from_bytes).
    pub arguments: Vec<u8>,
    /// Encoded schema of the result.
    pub result: Vec<u8>,
    /// True if the method has no reply.
    pub one_way: bool,
    /// True if an argument or the result is a stream.
    pub streams: bool,
}

/// Direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Direction {
    /// Sent to the peer.
    #[default]
    Outward,
    /// Received from the peer.
    Inward,
}

impl Direction {
    /// Returns the opposite direction.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Outward => Self::Inward,
            Self::Inward => Self::Outward,
        }
    }
}

/// Kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A request with a reply.
    Request,
    /// A request without a reply.
    OneWay,
    /// The reply to a request.
    Reply,
    /// A request that was returned unprocessed, with the rest of its payload and the reason.
    Return,
    /// A one-way message that was returned unprocessed, with the rest of its payload and the
    /// reason.
    Bounce,
    /// Cancellation of a request.
    Cancel,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Request,
        Self::OneWay,
        Self::Reply,
        Self::Return,
        Self::Bounce,
        Self::Cancel,
    ];

    /// Returns the name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::OneWay => "send",
            Self::Reply => "reply",
            Self::Return => "return",
            Self::Bounce => "bounce",
            Self::Cancel => "cancel",
        }
    }
}

/// A captured message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Time, in nanoseconds since the start of the capture.
    pub nanos: u64,
    /// Direction of the message.
    pub direction: Direction,
    /// Kind of the message.
    pub kind: Kind,
    /// Number of the request, if there is one.
    pub number: u32,
    /// Index of the handler; for a returned message, the code of the reason.
    pub code: u16,
    /// The header word. In a reply to a call, a word other than 0 means that the payload is an
    /// error text.
    pub word: u64,
    /// Length in bytes of the text at the end of the payload that states why a message was
    /// returned.
    pub text: u16,
    /// For a call: the numbers of the object and of the method.
    pub call: Option<(u32, u16)>,
    /// Payload of the message.
    pub payload: Vec<u8>,
}

impl Message {
    /// Creates a message without content.
    #[must_use]
    pub const fn new(direction: Direction, kind: Kind) -> Self {
        Self {
            nanos: 0,
            direction,
            kind,
            number: 0,
            code: 0,
            word: 0,
            text: 0,
            call: None,
            payload: Vec::new(),
        }
    }
}
